"""The config that describes the token decoder of a model, and what its layers are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.facts import geometry
from neurarch_schemas.config.language_model import LANGUAGE_CONFIGS

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.modules.tree import AttentionShape

NOT_TEXT = ("vision", "audio")


def decoder_config(context: Context) -> ModelConfig | None:
    """The innermost config along text_config, llm_config, thinker_config ...; the document's own without any."""
    config = context.analysis.config
    return None if config is None else context.once("decoder", lambda: innermost_decoder(config))


def innermost_decoder(config: ModelConfig) -> ModelConfig:
    """As ``decoder_config``, for any config."""
    inner = next((config.nested[key] for key in LANGUAGE_CONFIGS if key in config.nested), None)
    if inner is None or (geometry.layers(inner) is None and not inner.nested):
        return config
    return innermost_decoder(inner)


def attention_layers(context: Context) -> list[tuple[AttentionShape, int]]:
    """Distinct causal attention shapes outside vision and audio towers with the number of layers; [] where unknown."""
    return context.once("attention", lambda: _attention_layers(context))


def _attention_layers(context: Context) -> list[tuple[AttentionShape, int]]:
    counts: dict[AttentionShape, int] = {}
    for visit in context.analysis.visits:
        shape = visit.module.attention
        if shape is None or not shape.causal or shape.kind in ("linear", "encoder", "cross") or visit.part in NOT_TEXT:
            continue
        if any(piece in visit.path for piece in ("vision", "visual", "audio")):
            continue
        counts[shape] = counts.get(shape, 0) + visit.times
    return list(counts.items())
