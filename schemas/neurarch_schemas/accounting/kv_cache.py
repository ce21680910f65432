"""What decoding keeps for one sequence: keys and values, latents, index keys, recurrent and convolution state."""

from __future__ import annotations

from collections.abc import Iterable

from neurarch_schemas.modules.tree import Cache, Module, Visit, walk
from neurarch_schemas.record import Record


class KVCache(Record):
    """Every cache of a tree with the number of layers that hold it; all sizes in scalars."""

    entries: tuple[tuple[Cache, int], ...]

    @property
    def per_token(self) -> int:
        """What one further token adds while no window is full; cross-attention caches excluded. Rounded up."""
        return sum(-(-cache.per_token * layers // cache.tokens_per_entry) for cache, layers in self._growing)

    @property
    def per_token_beyond_windows(self) -> int:
        """As ``per_token``, once every window is full."""
        return sum(
            -(-cache.per_token * layers // cache.tokens_per_entry)
            for cache, layers in self._growing
            if cache.window is None
        )

    @property
    def widest_window(self) -> int | None:
        """Positions after which no window grows any more; None without windows."""
        return max((cache.window for cache, _ in self._growing if cache.window is not None), default=None)

    @property
    def per_token_expanded(self) -> int:
        """As ``per_token`` in an engine that stores the keys and values a latent expands to."""
        return sum(-(-_expanded(cache) * layers // cache.tokens_per_entry) for cache, layers in self._growing)

    @property
    def constant(self) -> int:
        return sum(cache.constant * layers for cache, layers in self.entries)

    def at(self, tokens: int) -> int:
        """The whole cache of ``tokens`` tokens, windows as serving engines budget them (W positions)."""
        return sum(
            (_positions(cache, tokens) * cache.per_token + _constant(cache, tokens)) * layers
            for cache, layers in self.entries
        )

    def transformers_at(self, tokens: int) -> int:
        """What transformers 5.24's own cache object holds after ``tokens`` tokens (windows keep W - 1)."""
        held = 0
        for cache, layers in self.entries:
            positions = _positions(cache, tokens)
            if cache.window is not None:
                kept = cache.window - 1 if cache.transformers_window is None else cache.transformers_window
                positions = min(tokens, kept)
            held += (positions * cache.per_token + _constant(cache, tokens)) * layers
        return held

    @property
    def _growing(self) -> tuple[tuple[Cache, int], ...]:
        return tuple(
            (cache, layers) for cache, layers in self.entries if cache.kind != "cross" and not cache.remainder_of
        )


def _expanded(cache: Cache) -> int:
    return cache.per_token if cache.expanded_per_token is None else cache.expanded_per_token


def _positions(cache: Cache, tokens: int) -> int:
    if cache.kind == "cross":
        return cache.source_length or 0
    if cache.remainder_of:
        return tokens % cache.remainder_of
    tokens //= cache.tokens_per_entry
    return tokens if cache.window is None else min(tokens, cache.window)


def _constant(cache: Cache, tokens: int) -> int:
    return cache.constant if tokens >= cache.constant_from else 0


def kv_cache(tree: Module) -> KVCache | None:
    """The caches of a tree; None for a network that caches nothing (an encoder)."""
    return caches_of(walk(tree))


def caches_of(visits: Iterable[Visit]) -> KVCache | None:
    """As ``kv_cache``, for a tree that has been walked."""
    counts: dict[Cache, int] = {}
    for visit in visits:
        for cache in visit.module.caches:
            counts[cache] = counts.get(cache, 0) + visit.times
    return KVCache(tuple(counts.items())) if counts else None
