from __future__ import annotations

import math
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.places import configs, integer, is_written, number, place, related
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="ssm-heads-mismatch",
    severity="error",
    category="correctness",
    summary="Heads and head size of a state-space layer do not make up its inner width",
    needs=("mamba", "expand"),
)

NAMES = (
    ("expand", "num_heads", "head_dim"),
    ("mamba_expand", "mamba_n_heads", "mamba_d_head"),
)


GROUPED = (
    ("num_heads", "n_groups"),
    ("mamba_n_heads", "mamba_n_groups"),
    ("mamba_num_heads", "n_groups"),
    ("n_mamba_heads", "mamba_ngroups"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for expand, heads, size in NAMES:
            yield from _check(config, expand, heads, size)
        for heads, groups in GROUPED:
            yield from _groups(config, heads, groups)


def _check(config: ModelConfig, expand_key: str, heads_key: str, size_key: str) -> Iterator[Finding]:
    hidden, expand = integer(config, "hidden_size"), number(config.get(expand_key))
    heads, size = integer(config, heads_key), integer(config, size_key)
    if hidden is None or expand is None or heads is None or heads <= 0:
        return
    if not any(is_written(config, name) for name in ("hidden_size", expand_key, heads_key, size_key)):
        return
    stated = integer(config, "mamba_d_ssm") if expand_key == "mamba_expand" else None
    width = number(hidden)
    if width is None or not math.isfinite(width * expand):
        return
    inner = int(hidden * expand) if stated is None else stated
    source = f"hidden_size {hidden} x {expand_key} {expand:g} = {inner}" if stated is None else f"mamba_d_ssm {stated}"
    keys = ("hidden_size", expand_key) if stated is None else ("mamba_d_ssm",)
    others = tuple(related(config, key) for key in keys)
    if size is not None and size > 0 and heads * size != inner:
        yield Finding(
            f"{heads} state-space heads of {size} make {heads * size}, but the inner width is {source}: "
            "the layer cannot be built",
            place(config, heads_key),
            (*others, related(config, size_key)),
            severity=None if config.is_native else "warning",
        )
    elif size is None and inner % heads:
        yield Finding(
            f"the inner width {inner} cannot be split into {heads} state-space heads",
            place(config, heads_key),
            others,
            severity=None if config.is_native else "warning",
        )


def _groups(config: ModelConfig, heads_key: str, groups_key: str) -> Iterator[Finding]:
    heads, count = integer(config, heads_key), integer(config, groups_key)
    if heads is None or count is None or heads <= 0 or count <= 0 or heads % count == 0:
        return
    if not (is_written(config, heads_key) or is_written(config, groups_key)):
        return
    if heads_key == "num_heads" and number(config.get("expand")) is None:
        return  # attention heads and groups of experts in other families
    yield Finding(
        f"{heads} state-space heads cannot share {count} groups",
        place(config, groups_key),
        (related(config, heads_key),),
        severity=None if config.is_native else "warning",
    )
