"""Numbers and names in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neurarch_schemas.accounting import quantities

__all__ = [
    "binary_bytes",
    "counted",
    "decimal_bytes",
    "divisors",
    "either",
    "grouped",
    "listed",
    "nearest",
    "quoted",
]


HUGE = 10**30
"""Beyond any memory; a file may still say so."""


def binary_bytes(number: int) -> str:
    """``248 * 1024`` is "248 KiB"."""
    return quantities.binary_bytes(number) if number < HUGE else f"about 10^{len(str(number)) - 1} bytes"


def decimal_bytes(number: int) -> str:
    """``4_290_000_000`` is "4.29 GB"."""
    return quantities.decimal_bytes(number) if number < HUGE else f"about 10^{len(str(number)) - 1} bytes"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``counted(1, "layer") == "1 layer"``, ``counted(1200, "layer") == "1,200 layers"``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def grouped(number: int) -> str:
    return f"{number:,}"


def either(items: Sequence[object]) -> str:
    """``either([1, 2, 4]) == "1, 2 or 4"``; numbers too large to factor give none."""
    shown = [str(item) for item in items]
    if not shown:
        return "a divisor of it"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def listed(items: Iterable[object], limit: int = 8) -> str:
    """``listed(["a", "b"]) == "a, b"``; long lists are cut and say how many more there are."""
    shown = [str(item) for item in items]
    more = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {more} more" if more > 0 else "")


def quoted(value: object, limit: int = 60) -> str:
    """A JSON value as it would be written, cut when long."""
    import json

    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def divisors(number: int, limit: int = 1 << 20) -> list[int]:
    """Divisors in ascending order; work is bounded by the square root of ``limit``."""
    if number <= 0 or number > limit:
        return []
    small = [divisor for divisor in range(1, int(number**0.5) + 1) if number % divisor == 0]
    return sorted({*small, *(number // divisor for divisor in small)})


def nearest(value: int, choices: Sequence[int]) -> int | None:
    """The choice closest to a value (the smaller one on a tie)."""
    return min(choices, key=lambda choice: (abs(choice - value), choice), default=None)
