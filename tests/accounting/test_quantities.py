"""Numbers as people read them: three digits, and never a thousand of a unit."""

from __future__ import annotations

import pytest

from neurarch_schemas.accounting.quantities import binary_bytes, count, decimal_bytes


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999, "999"),
        (46_320, "46.3K"),
        (999_499_999, "999M"),
        (999_885_952, "1B"),  # Gemma 3 1B
        (228_689_764_864, "229B"),
        (999_999_999_999, "1T"),
        (1_570_000_000_000, "1.57T"),
    ],
)
def test_counts(value: int, text: str) -> None:
    assert count(value) == text


def test_bytes() -> None:
    assert binary_bytes(253_952) == "248 KiB"
    assert decimal_bytes(999_999_999) == "1 GB"
    assert decimal_bytes(13_761_264_768) == "13.8 GB"
