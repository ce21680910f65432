from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry, rope
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.places import configs, number, related
from neurarch_schemas.config.rope import REQUIRED, STRETCHED

RULE = RuleInfo(
    name="rope-original-length-missing",
    severity="warning",
    category="correctness",
    summary="A stretched RoPE does not say which length the model was trained on",
    needs=("rope_scaling", "rope_parameters"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for block in rope.blocks(context, config):
            if block.rope_type not in STRETCHED or block.original_length is not None:
                continue
            window, factor = geometry.positions(config), block.number("factor")
            if window is None or any(block.values.get(name) is None for name in REQUIRED[block.rope_type]):
                continue
            message = (
                f"{block.rope_type} without {rope.ORIGINAL} starts from {window.key} {window.value:,} as if the "
                "model had "
                "been trained on that length"
            )
            fixes: tuple[Fix, ...] = ()
            if factor is not None and factor > 1 and number(window.value) is not None:
                message += f"; with factor {factor:g} that claims {window.value * factor:,.0f} tokens"
                if (window.value / factor).is_integer():
                    trained = int(window.value / factor)
                    message += f" ({trained:,} if {window.key} is the stretched window)"
                    title = f"{rope.ORIGINAL} = {trained} ({window.key} / factor)"
                    fixes = set_value(context.analysis, block.pointer, rope.ORIGINAL, trained, title, "display")
            yield Finding(message, block.place(rope.ORIGINAL), (related(config, window.key),), fixes)
