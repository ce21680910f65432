from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry, rope
from neurarch_rules.facts.layers import layer_types
from neurarch_rules.facts.places import configs, related

RULE = RuleInfo(
    name="rope-scaling-on-long-window",
    severity="warning",
    category="correctness",
    summary="Linear or dynamic RoPE scaling on top of a window that is long already",
    aliases=("rope-override",),
    needs=("rope_scaling", "rope_parameters"),
)

LONG_WINDOW = 65_536
LONG_BASE = 100_000


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for block in rope.blocks(context, config):
            window, base, factor = geometry.positions(config), rope.theta(block), block.number("factor")
            if block.rope_type not in ("linear", "dynamic") or window is None or base is None or not factor:
                continue
            if block.rope_type == "linear" and layer_types(config):
                continue
            if window.value < LONG_WINDOW or base < LONG_BASE or factor <= 1 or not config.is_native:
                continue
            reaches = (
                f"it starts beyond {window.value:,} tokens"
                if block.rope_type == "dynamic"
                else f"all {window.value:,} positions are squeezed by {factor:g}"
            )
            yield Finding(
                f"{block.rope_type} scaling with factor {factor:g} on a model whose window is {window.value:,} "
                "tokens with "
                f"rope_theta {base:,.0f}: {reaches}, and it replaces the block the model was trained with; models of "
                "this shape "
                "use llama3 or yarn with low_freq_factor and high_freq_factor or original_max_position_embeddings",
                Place(block.pointer),
                (related(config, window.key), related(config, "rope_theta")),
            )
