"""The cache of one sequence, with what a decoder keeps of an encoder whose length no file tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis


def cached_scalars(analysis: Analysis, assumed: Assumptions) -> Callable[[int], int]:
    """The scalars kept for so many tokens; 0 for a network that caches nothing."""
    cache, crossing, source = analysis.kv_cache, assumed_crossing(analysis), assumed.source_length
    if cache is None:
        return lambda _: 0
    if not crossing:
        return cache.at
    return lambda length: cache.at(length) + (source or length) * crossing


def assumed_crossing(analysis: Analysis) -> int:
    """Scalars kept for each token that an encoder of undeclared length reads (T5); 0 for other networks."""
    cache, config = analysis.kv_cache, analysis.config
    if cache is None or config is None or config.get("is_encoder_decoder") is not True:
        return 0
    return sum(
        one.per_token * layers for one, layers in cache.entries if one.kind == "cross" and one.source_length is None
    )
