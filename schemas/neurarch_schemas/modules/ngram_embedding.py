"""Hashed n-gram embeddings: every head hashes into a table of its own, whose size is the next unused prime."""

from __future__ import annotations

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.modules.layers import embedding
from neurarch_schemas.modules.tree import Module, Tensor, children

MOST_TABLES = 1024
LARGEST_TABLE = 1 << 64

_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def is_prime(number: int) -> bool:
    """Exact below 3.3e24: Miller-Rabin with the first twelve primes as bases (Sorenson and Webster, 2015)."""
    if number < 2:
        return False
    for prime in _SMALL_PRIMES:
        if number % prime == 0:
            return number == prime
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in _SMALL_PRIMES:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def primes_from(start: int, count: int) -> list[int]:
    """The first ``count`` primes that are not below ``start``."""
    if count > MOST_TABLES or start > LARGEST_TABLE:
        raise CannotBuild(f"{count} prime table sizes from {start} on are too many to derive")
    found: list[int] = []
    candidate = start
    while len(found) < count:
        if is_prime(candidate):
            found.append(candidate)
        candidate += 1
    return found


def ngram_embedding(sizes: list[int], width: int, order: int, multiple: int) -> Module:
    """Tables of ``sizes`` rows and ``width // len(sizes)`` columns in one matrix, padded to a multiple of rows.

    ``order`` is the longest n-gram. The hash's multipliers, the sizes and their offsets are buffers.
    """
    rows = -(-sum(sizes) // multiple) * multiple
    return Module(
        "NGramEmbedding",
        (
            Tensor("layer_multipliers", (order,), "buffer"),
            Tensor("ngram_heads_vocab_sizes", (len(sizes),), "buffer"),
            Tensor("ngram_heads_offsets", (len(sizes),), "buffer"),
        ),
        children(ngram_embedding=embedding(rows, width // len(sizes), lookup=True)),
        part="embedding",
    )
