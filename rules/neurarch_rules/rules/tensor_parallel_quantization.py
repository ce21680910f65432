from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.places import place
from neurarch_rules.facts.quantization import GROUPED, quantization
from neurarch_rules.facts.widths import attention_widths, feed_forward_widths
from neurarch_rules.facts.words import either

RULE = RuleInfo(
    name="tensor-parallel-quantization",
    severity="error",
    category="serving",
    summary="A quantization block or group would straddle two tensor-parallel ranks",
    aliases=("quant-block-tp", "quant-group-tp"),
    when="serving",
)


def check(context: Context) -> Iterator[Finding]:
    ranks = context.options.serving.tensor_parallel
    config, block = decoder_config(context), quantization(context.analysis)
    if ranks is None or ranks <= 1 or config is None or block is None:
        return
    if block.block is not None:
        size, name, what = block.block[0], "weight_block_size", "blocks"
    elif block.method in GROUPED and block.group_size is not None:
        size, name, what = block.group_size, "group_size", "groups"
    else:
        return
    where = (Related(block.place(name), f"{name} is {block.values[name]}"),)
    for width in [*feed_forward_widths(context, config), *attention_widths(config)]:
        if width.value % ranks or (width.value // ranks) % size == 0:
            continue
        legal = [count for count in range(1, 65) if width.value % count == 0 and (width.value // count) % size == 0]
        yield Finding(
            f"{width.value} over {ranks} ranks is {width.value // ranks} each, not a multiple of the {what} of {size}: "
            + (
                f"tensor-parallel may be {either(legal)}"
                if legal
                else f"no split fits, not even one ({width.value} % {size} = {width.value % size})"
            )
            + "; or use expert parallelism, or quantize with smaller "
            + what,
            place(config, width.key),
            where,
        )
