from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.decoder import attention_layers, decoder_config
from neurarch_rules.facts.geometry import layers
from neurarch_rules.facts.places import number, place, related
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.weights import has_weights
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="deep-attention-default-init",
    severity="info",
    category="training",
    summary="A deep stack whose residual output projections would start from the default init",
    about="file",
)


def check(context: Context) -> Iterator[Finding]:
    config = decoder_config(context)
    if config is None or has_weights(context.analysis.folder):
        return
    depth = layers(config)
    if depth is None or depth.value < context.options.limits.deep_attention_layers or _scales_itself(config):
        return
    count = sum(times for _, times in attention_layers(context))
    if count < context.options.limits.deep_attention_layers:
        return
    std = number(config.get("initializer_range")) or 0.02
    total = depth.value
    yield Finding(
        f"{count} attention layers start from N(0, {std:g}) in their output projections, so the residual stream's "
        "variance "
        f"grows with depth when this model is trained from scratch; GPT-2's N(0, {std:g}/sqrt(2L)) is std "
        f"{std / sqrt(2 * total):.2g} for L = {total}",
        place(config, depth.key),
        (related(config, "initializer_range"),),
    )


def _scales_itself(config: ModelConfig) -> bool:
    """The class scales residual projections at init, or residual branches in the forward pass."""
    record = config_type(config)
    module = record.module if record is not None else config.model_type
    if module in fact_set("residual_init", "always"):
        return True
    if module in fact_set("residual_init", "by_rescale_prenorm_residual") and config.get("rescale_prenorm_residual"):
        return True
    return any(number(config.get(key)) not in (None, 1.0) for key in ("residual_multiplier", "scale_depth"))
