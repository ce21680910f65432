"""Numbers as people read them. KiB, MiB, GiB are powers of two; kB, MB, GB powers of ten."""

from __future__ import annotations

_BINARY = (("PiB", 1 << 50), ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_DECIMAL = (("EB", 10**18), ("PB", 10**15), ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))
_COUNTS = (("T", 10**12), ("B", 10**9), ("M", 10**6), ("K", 10**3))

ROUNDED_UP = 0.9995
"""From this share of a unit on, three digits of the next smaller one would read 1000."""


def _digits(value: int, unit: int) -> str:
    """Three significant digits, without trailing zeros after the point."""
    whole = value / unit
    text = f"{whole:.0f}" if whole >= 100 else f"{whole:.1f}" if whole >= 10 else f"{whole:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(value: int) -> str:
    """A count of parameters or tokens: 228_600_000_000 is "229B", 999_885_952 is "1B"."""
    for name, unit in _COUNTS:
        if abs(value) >= unit * ROUNDED_UP:
            return f"{_digits(value, unit)}{name}"
    return str(value)


def binary_bytes(value: int) -> str:
    """248 * 1024 is "248 KiB"; exact where the quotient has at most two decimals."""
    for name, unit in _BINARY:
        if abs(value) >= unit:
            exact = value * 100 % unit == 0
            return (
                f"{value / unit:.2f}".rstrip("0").rstrip(".") + f" {name}"
                if exact
                else f"{_digits(value, unit)} {name}"
            )
    return f"{value} bytes"


def decimal_bytes(value: int) -> str:
    """16_600_000_000 is "16.6 GB"."""
    for name, unit in _DECIMAL:
        if abs(value) >= unit * ROUNDED_UP:
            return f"{_digits(value, unit)} {name}"
    return f"{value} bytes"
