from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.places import configs, integer, is_written, number, place, related
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="rope-odd-rotary-dim",
    severity="error",
    category="correctness",
    summary="RoPE rotates pairs of dimensions, and the number of rotated dimensions is odd",
)

SMALLEST = 4
"""transformers accepts odd sizes up to here for test models."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not _uses_rope(config):
            continue
        latent = integer(config, "qk_rope_head_dim")
        if latent is not None and is_written(config, "qk_rope_head_dim"):
            if latent % 2 and latent > SMALLEST:
                yield Finding(
                    f"qk_rope_head_dim {latent} is odd: RoPE rotates dimensions in pairs",
                    place(config, "qk_rope_head_dim"),
                    severity=None if config.is_native else "warning",
                )
            continue
        size = geometry.head_dim(config)
        if size is None or size <= SMALLEST or size % 2 == 0 or _share(config) < 1:
            continue
        hidden, heads = geometry.hidden_size(config), geometry.heads(config)
        if is_written(config, "head_dim"):
            yield Finding(
                f"head_dim {size} is odd: RoPE rotates the dimensions of a head in pairs",
                place(config, "head_dim"),
                severity=None if config.is_native else "warning",
            )
        elif (
            hidden is not None
            and heads is not None
            and (is_written(config, hidden.key) or is_written(config, heads.key))
        ):
            yield Finding(
                f"{hidden.value} / {heads.value} heads gives heads of {size} dimensions, which is odd: RoPE rotates "
                "them in "
                "pairs",
                place(config, heads.key),
                (related(config, hidden.key),),
                severity=None if config.is_native else "warning",
            )


def _uses_rope(config: ModelConfig) -> bool:
    if config.is_native:
        return isinstance(config.get("rope_parameters"), dict)
    return config.is_set("rope_theta")


def _share(config: ModelConfig) -> float:
    effective = config.get("rope_parameters")
    inside = number(effective.get("partial_rotary_factor")) if isinstance(effective, dict) else None
    share = inside if inside is not None else number(config.get("partial_rotary_factor"))
    return 1.0 if share is None else share
