from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Related, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry, rope
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, is_written, number, place, pointer

RULE = RuleInfo(
    name="rope-window-arithmetic",
    severity="warning",
    category="correctness",
    summary="factor x original length and max_position_embeddings do not agree",
    needs=("rope_scaling", "rope_parameters"),
)

CLOSE = 1.01


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for block in rope.blocks(context, config):
            factor, original, window = block.number("factor"), block.original_length, geometry.positions(config)
            if block.rope_type != "yarn" or not factor or not original or window is None or window.value <= 0:
                continue
            if not is_written(config, window.key) or factor <= 1 or number(window.value) is None:
                continue
            stretched = factor * original
            if 1 / CLOSE <= window.value / stretched <= CLOSE:
                continue
            sides = tuple(
                Related(block.place(name), f"{name} is {value:,.10g}")
                for name, value in (("factor", factor), (rope.ORIGINAL, original))
                if name in block.values
            )
            product = f"yarn factor {factor:g} x {original:,.0f} = {stretched:,.0f} tokens, but "
            product += f"{window.key} is {window.value:,}"
            if window.value > stretched:
                message = f"{product}: positions beyond {stretched:,.0f} are extrapolated"
            else:
                message = (
                    f"{product}: engines stop there, so the stretched window is never used while short texts pay for it"
                )
            fixes: tuple[Fix, ...] = ()
            if float(stretched).is_integer():
                title = f"{window.key} = {int(stretched)}"
                fixes = replace_value(context.analysis, pointer(config, window.key), int(stretched), title, "unsafe")
            severity: Severity | None = None if window.value > stretched or window.value <= original else "info"
            yield Finding(message, place(config, window.key), sides, fixes, severity=severity)
