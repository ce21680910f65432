from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.cost import cache_change
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, is_written, place, pointer, related
from neurarch_rules.facts.words import divisors, either, nearest

RULE = RuleInfo(
    name="kv-heads-indivisible",
    severity="error",
    category="correctness",
    summary="The number of attention heads is not a multiple of the number of KV heads",
    reads=("config", "params"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        heads, kv_heads = geometry.heads(config), geometry.kv_heads(config)
        if heads is None or kv_heads is None or heads.value <= 0 or kv_heads.value <= 0 or geometry.is_latent(config):
            continue
        if config.model_type == "falcon" and config.get("new_decoder_architecture") is not True:
            continue  # multi-query or plain attention, whatever num_kv_heads says
        if heads.value % kv_heads.value == 0 or not (is_written(config, kv_heads.key) or is_written(config, heads.key)):
            continue
        legal = divisors(heads.value)
        choice = nearest(kv_heads.value, legal)
        where = pointer(config, kv_heads.key)
        fixes: tuple[Fix, ...] = ()
        if choice is not None and is_written(config, kv_heads.key):
            title = f"{kv_heads.key} = {choice}{cache_change(context, config, kv_heads.value, choice)}"
            fixes = replace_value(context.analysis, where, choice, title, "display")
        origin = "" if is_written(config, kv_heads.key) else " (the default)"
        if kv_heads.value > heads.value:
            wrong = f"{kv_heads.value} KV heads{origin} are more than {heads.value} attention heads"
        else:
            wrong = f"{heads.value} attention heads cannot share {kv_heads.value} KV heads{origin}: {heads.value} % "
            wrong += f"{kv_heads.value} = {heads.value % kv_heads.value}"
        yield Finding(
            f"{wrong}; each KV head serves a whole group of heads, or the first forward pass fails: "
            f"{kv_heads.key} may be {either(legal[:8])}",
            place(config, kv_heads.key),
            (related(config, heads.key),),
            fixes,
            severity=None if config.is_native else "warning",
        )
