"""Table sizes of hashed n-gram embeddings are consecutive primes."""

from __future__ import annotations

import pytest

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.modules.ngram_embedding import is_prime, ngram_embedding, primes_from
from neurarch_schemas.modules.tree import rows


def test_primality_agrees_with_trial_division() -> None:
    small = [number for number in range(2000) if number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))]
    assert [number for number in range(2000) if is_prime(number)] == small


@pytest.mark.parametrize("composite", [3_215_031_751, 3_825_123_056_546_413_051, 341, 561, 2**61 + 1])
def test_pseudoprimes_are_not_primes(composite: int) -> None:
    assert not is_prime(composite)


def test_large_primes_are_found() -> None:
    assert is_prime(2**61 - 1)
    assert primes_from(20_000_000, 2) == [20_000_003, 20_000_023]


def test_too_many_tables_are_refused() -> None:
    with pytest.raises(CannotBuild):
        primes_from(10, 10**9)
    with pytest.raises(CannotBuild):
        primes_from(10**40, 1)


def test_rows_are_padded_to_a_multiple() -> None:
    table = {row.name: row.shape for row in rows(ngram_embedding([101, 103], 96, 3, 8))}
    assert table["ngram_embedding.weight"] == (208, 48)
    assert table["layer_multipliers"] == (3,)
