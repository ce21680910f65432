"""Does a model fit: weights as stored, cache of a batch, and a reserve, against the memory of devices."""

from __future__ import annotations

from collections.abc import Callable

from neurarch_schemas.accounting.hardware import Device
from neurarch_schemas.record import Record

RESERVE = 0.1
"""Share of memory kept for activations, buffers and fragmentation: vLLM's default gpu_memory_utilization is 0.9."""

MOST_DEVICES = 1024
MOST_TOKENS = 1 << 24
MOST_SEQUENCES = 1 << 16


class Fit(Record):
    """``devices`` is the smallest power of two that holds weights and cache, None where 1,024 do not.

    ``longest_context`` for one sequence and ``largest_batch`` at the asked context are on that many devices.
    """

    device: Device
    devices: int | None
    fits_on_one: bool
    longest_context: int | None
    largest_batch: int | None


def fit(
    device: Device,
    weight_bytes: int,
    cache_bytes: Callable[[int], int],
    *,
    context: int,
    batch: int = 1,
    reserve: float = RESERVE,
) -> Fit:
    """``cache_bytes(tokens)`` is the cache of one sequence. Sharding is assumed even."""
    needed = weight_bytes + batch * cache_bytes(context)
    count = 1
    while count <= MOST_DEVICES and needed > usable(device, count, reserve):
        count *= 2
    if count > MOST_DEVICES:
        return Fit(device, None, fits_on_one=False, longest_context=None, largest_batch=None)
    left = usable(device, count, reserve) - weight_bytes
    longest = _largest(cache_bytes, left, MOST_TOKENS)
    one = cache_bytes(context)
    largest = min(left // one, MOST_SEQUENCES) if one else MOST_SEQUENCES
    return Fit(device, count, count == 1, longest, largest)


def usable(device: Device, devices: int, reserve: float = RESERVE) -> int:
    """Bytes that weights and caches may take."""
    return int(device.memory_bytes * devices * (1 - reserve))


def _largest(size: Callable[[int], int], room: int, most: int) -> int:
    """The largest number up to ``most`` whose size, which grows, is at most ``room``; 0 if none.

    Caches grow along lines, so the chord is tried first, and its guess and the next number mostly end the search.
    """
    if size(most) <= room:
        return most
    low, high = 0, most
    below, above = size(low), size(high)
    while high - low > 1:
        chord = low + (room - below) * (high - low) // (above - below) if above > below else low
        for guess in (chord, chord + 1, (low + high) // 2):
            if low < guess < high:
                found = size(guess)
                if found <= room:
                    low, below = guess, found
                else:
                    high, above = guess, found
    return low
