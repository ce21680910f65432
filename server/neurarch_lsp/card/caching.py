"""The cache of one sequence, with what a decoder keeps of an encoder whose length no file tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis


def cached_scalars(analysis: Analysis, assumed: Assumptions, length: int) -> int:
    """Scalars kept for ``length`` tokens; 0 for a network that caches nothing."""
    cache = analysis.kv_cache
    if cache is None:
        return 0
    return cache.at(length) + (assumed.source_length or length) * assumed_crossing(analysis)


def assumed_crossing(analysis: Analysis) -> int:
    """Scalars kept for each token that an encoder of undeclared length reads (T5); 0 for other networks."""
    cache, config = analysis.kv_cache, analysis.config
    if cache is None or config is None or config.get("is_encoder_decoder") is not True:
        return 0
    return sum(
        one.per_token * layers for one, layers in cache.entries if one.kind == "cross" and one.source_length is None
    )
