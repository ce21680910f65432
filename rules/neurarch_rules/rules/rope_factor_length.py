from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry, rope
from neurarch_rules.facts.places import configs, related

RULE = RuleInfo(
    name="rope-factor-length",
    severity="error",
    category="correctness",
    summary="longrope factor lists that do not have one entry per rotated pair",
    needs=("short_factor", "long_factor"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for block in rope.blocks(context, config):
            size = rope.rotary_dim(block)
            if size is None or (block.rope_type not in ("longrope", "su") and "short_factor" not in block.values):
                continue
            for name in ("short_factor", "long_factor"):
                values = block.values.get(name)
                if not isinstance(values, list) or len(values) == size // 2:
                    continue
                sources = (geometry.hidden_size(config), geometry.heads(config))
                explains = f"a head of {2 * len(values)} dimensions"
                hidden, heads = sources
                if hidden is not None and heads is not None and size == hidden.value // max(heads.value, 1):
                    explains += f", {hidden.key} {2 * len(values) * heads.value}"
                yield Finding(
                    f"{name} has {len(values)} entries, one for each pair of {explains}, but the model rotates {size} "
                    f"dimensions ({size // 2} pairs): one of the two is wrong",
                    block.place(name),
                    tuple(related(config, item.key) for item in sources if item is not None),
                    severity=None if config.is_native else "warning",
                )
