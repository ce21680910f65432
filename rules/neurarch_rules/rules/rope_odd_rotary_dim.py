from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.places import configs, integer, is_written, number, place, related
from neurarch_schemas.catalogue.load import indivisible_heads
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="rope-odd-rotary-dim",
    severity="error",
    category="correctness",
    summary="RoPE rotates pairs of dimensions, and the number of rotated dimensions is odd",
)

SPLIT = ("phi", "persimmon", "stablelm")
"""Families whose split of a head into a rotated part and the rest fails with an odd number; others drop one."""
SMALLEST = 4
"""transformers accepts odd sizes up to here for test models."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not _uses_rope(config):
            yield from _rotary_dim(config)
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
        yield from _rotary_dim(config)
        size = geometry.head_dim(config) or _floored(config)
        if size is None or size <= SMALLEST:
            continue
        if _share(config) < 1:
            yield from _partial(config, size)
            continue
        if size % 2 == 0:
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
                "them in pairs",
                place(config, heads.key),
                (related(config, hidden.key),),
                severity=None if config.is_native else "warning",
            )


def _floored(config: ModelConfig) -> int | None:
    """What heads that do not divide the hidden size come to, where the class rounds down."""
    hidden, heads = geometry.hidden_size(config), geometry.heads(config)
    if hidden is None or heads is None or heads.value <= 0 or not config.is_native:
        return None
    return hidden.value // heads.value if config.model_type in indivisible_heads("floored") else None


def _partial(config: ModelConfig, size: int) -> Iterator[Finding]:
    """A share of the head that comes to an odd number of dimensions."""
    share, keys = _share(config), ("partial_rotary_factor", "rotary_pct", "rope_parameters")
    rotated = int(size * share)
    key = next((key for key in keys if is_written(config, key)), None)
    if key is None or rotated % 2 == 0 or not config.is_native or config.model_type not in SPLIT:
        return
    yield Finding(
        f"{share:g} of {size} dimensions is {rotated}, an odd number: RoPE rotates dimensions in pairs",
        place(config, key),
    )


def _rotary_dim(config: ModelConfig) -> Iterator[Finding]:
    """Families that say how many dimensions are rotated, not which share."""
    rotated, size = integer(config, "rotary_dim"), geometry.head_dim(config)
    if rotated is None or not is_written(config, "rotary_dim") or config.model_type not in ("gptj", "codegen"):
        return
    if rotated % 2 or (size is not None and rotated > size):
        yield Finding(
            f"rotary_dim is {rotated}"
            + (
                ", an odd number: RoPE rotates dimensions in pairs"
                if rotated % 2
                else f", but a head has {size} dimensions"
            ),
            place(config, "rotary_dim"),
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
