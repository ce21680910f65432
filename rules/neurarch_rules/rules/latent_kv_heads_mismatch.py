from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.places import configs, is_written, place, related

RULE = RuleInfo(
    name="latent-kv-heads-mismatch",
    severity="error",
    category="correctness",
    summary="Multi-head latent attention has another number of KV heads than of attention heads",
    needs=("key_value_heads",),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not geometry.is_latent(config) or not config.is_native:
            continue
        heads, kv_heads = geometry.heads(config), geometry.kv_heads(config)
        if heads is None or kv_heads is None or kv_heads.value <= 0 or heads.value == kv_heads.value:
            continue
        if is_written(config, kv_heads.key) and is_written(config, heads.key):
            yield Finding(
                f"latent attention expands its cache to every head, so {kv_heads.value} KV heads cannot serve "
                f"{heads.value} attention heads: the first forward pass fails; {kv_heads.key} must be {heads.value}",
                place(config, kv_heads.key),
                (related(config, heads.key),),
            )
