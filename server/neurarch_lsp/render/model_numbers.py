"""The few numbers of a model that a hover, a lens or a hint shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.modules.tree import walk
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.modules.tree import AttentionShape

COMMON_CONTEXT = 65_536
"""Longest context that numbers are given for where nobody names one: beyond it few deployments go."""


class ModelNumbers(Record):
    """Counts in scalars, sizes in bytes; cache sizes are None for a model that caches nothing."""

    total: int
    active: int
    active_with_embeddings: int
    stored: int
    weights_bytes: int
    weights_dtype: str
    dtype_is_assumed: bool
    cache_per_token: int | None
    cache_constant: int
    context: int
    cache_at_context: int | None
    cache_dtype: str

    @property
    def is_sparse(self) -> bool:
        """Fewer parameters work on a token than there are, the embedding lookup aside."""
        return self.active_with_embeddings != self.total


def numbers(analysis: Analysis, context: int | None = None, cache_dtype: str | None = None) -> ModelNumbers | None:
    """None where the tensors are not known. ``context`` in tokens; without it ``context_of`` chooses."""
    counted, weights = analysis.parameters, analysis.weights
    if counted is None or weights is None:
        return None
    tokens = context or context_of(analysis)
    dtype = analysis.cache_dtype(cache_dtype)
    cache = analysis.kv_cache
    return ModelNumbers(
        total=counted.total,
        active=counted.active,
        active_with_embeddings=counted.active_with_embeddings,
        stored=counted.stored,
        weights_bytes=weights.bytes,
        weights_dtype=weights.dtype,
        dtype_is_assumed=weights.dtype_origin == "assumed",
        cache_per_token=size_in_bytes(cache.per_token, dtype) if cache else None,
        cache_constant=size_in_bytes(cache.constant, dtype) if cache else 0,
        context=tokens,
        cache_at_context=size_in_bytes(cache.at(tokens), dtype) if cache else None,
        cache_dtype=dtype,
    )


def context_of(analysis: Analysis) -> int:
    """The declared context, at most ``COMMON_CONTEXT`` tokens."""
    declared = declared_context(analysis.config) if analysis.config else None
    return min(declared or COMMON_CONTEXT, COMMON_CONTEXT)


def attention_kinds(analysis: Analysis) -> tuple[tuple[str, int], ...]:
    """Names of the kinds of attention ("GQA 6:1", "MLA", "sliding GQA 2:1") with the number of layers of each."""
    if analysis.built.tree is None:
        return ()
    counts: Counter[str] = Counter()
    for visit in walk(analysis.built.tree):
        shape = visit.module.attention
        if shape is not None and shape.kind not in ("encoder", "cross"):
            counts[attention_name(shape)] += visit.times
    return tuple(counts.most_common())


def attention_name(shape: AttentionShape, *, heads: bool = False) -> str:
    """ "GQA 6:1", or with ``heads`` "GQA 48:8": query heads for each key and value head, or how many of both."""
    if shape.kind == "linear":
        return "linear attention"
    prefix = {"sliding": "sliding ", "chunked": "chunked ", "sparse": "sparse ", "cross": "cross "}.get(shape.kind, "")
    if shape.kind == "latent" or shape.latent_dim is not None:
        return prefix + "MLA"
    if shape.kv_heads == shape.heads:
        return prefix + "MHA"
    if shape.kv_heads == 1:
        return prefix + "MQA"
    if shape.kv_heads and shape.heads % shape.kv_heads == 0 and not heads:
        return f"{prefix}GQA {shape.heads // shape.kv_heads}:1"
    return f"{prefix}GQA {shape.heads}:{shape.kv_heads}"


def tokens(value: int) -> str:
    """A context length as people say it: 65536 is "64k", 131072 "128k", 200000 "200,000", 1163264 "1.1M"."""
    if value > 1 << 20 and value % 1024 == 0 and value % (1 << 20):
        return f"{value // (1 << 20)}.{value * 10 // (1 << 20) % 10}M"
    if value >= 1024 and value % 1024 == 0:
        return f"{value // 1024}k" if value < 1 << 20 else f"{value >> 20}M"
    return f"{value:,}"
