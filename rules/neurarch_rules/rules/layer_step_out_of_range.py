from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import experts, geometry
from neurarch_rules.facts.places import configs, integer, is_written, place, related
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="layer-step-out-of-range",
    severity="error",
    category="correctness",
    summary="Every how many layers something comes is zero, above the number of layers, or below its own offset",
    needs=("step", "freq", "period", "pattern", "interval"),
)

STEPS = (
    "decoder_sparse_step",
    "moe_layer_freq",
    "expert_layer_period",
    "attn_layer_period",
    "encoder_sparse_step",
    "interleave_moe_layer_step",
    "full_attention_interval",
    "sliding_window_pattern",
    "no_rope_layer_interval",
    "moe_every_n_layers",
)

DERIVES = {"no_rope_layer_interval": "no_rope_layers", "full_attention_interval": "layer_types"}
"""Steps that the list beside them is made of, unless it is given."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for name in STEPS:
            step = integer(config, name)
            if step is not None and is_written(config, name):
                yield from _check(config, name, step)
            if step is not None and step > 0 and name.endswith("_period"):
                yield from _offset(config, name, step)


def _check(config: ModelConfig, name: str, step: int) -> Iterator[Finding]:
    depth = geometry.layers(config)
    if step <= 0:
        is_divisor = (name == "sliding_window_pattern" and config.model_type.startswith("gemma3")) or (
            config.is_native and name in DERIVES and not is_written(config, DERIVES[name])
        )
        if name == "encoder_sparse_step":
            return
        if step == 0 and experts.total(config) is None and "moe" not in name and not is_divisor:
            return
        yield Finding(
            f"{name} is {step}: layers are counted modulo it, so it must be at least 1",
            place(config, name),
            severity=None if config.is_native and step == 0 else "warning",
        )
    elif depth is not None and step > depth.value > 1 and not _starts_within(config, name, depth.value):
        yield Finding(
            f"{name} is {step}, but the model has {depth.value} layers: none of them is a multiple of it",
            place(config, name),
            (related(config, depth.key),),
            severity="warning",
        )


def _offset(config: ModelConfig, name: str, period: int) -> Iterator[Finding]:
    """Which layer of each period it is."""
    key = name.replace("_period", "_offset")
    offset = integer(config, key)
    if offset is None or offset < period or not (is_written(config, key) or is_written(config, name)):
        return
    yield Finding(
        f"{key} is {offset}, but a period has the layers 0 to {period - 1}: no layer is ever the one",
        place(config, key),
        (related(config, name),),
        severity=None if config.is_native else "warning",
    )


def _starts_within(config: ModelConfig, name: str, depth: int) -> bool:
    """The first such layer is not the one the step says but one an offset says, and that lies inside the model."""
    offset = integer(config, name.replace("_period", "_offset")) if name.endswith("_period") else None
    return offset is not None and 0 <= offset < depth
