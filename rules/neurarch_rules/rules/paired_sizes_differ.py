from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, describe, integer, is_written, place, pointer, related

RULE = RuleInfo(
    name="paired-sizes-differ",
    severity="error",
    category="correctness",
    summary="Two sizes that the code of this family needs to be equal differ",
    needs=("attention_hidden_size", '"head_dim"'),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not config.is_native:
            continue
        for pair in facts("paired_sizes")["pairs"]:
            left, right = pair["left"], pair["right"]
            if config.model_type not in pair["types"] or not is_written(config, left):
                continue
            first, second = integer(config, left), integer(config, right)
            if first is None or second is None or first == second:
                continue
            yield Finding(
                f"{describe(config, left)}, but {describe(config, right)}: {pair['what']}",
                place(config, left),
                (related(config, right),),
                replace_value(context.analysis, pointer(config, left), second, f"{left} = {second}", "unsafe"),
            )
