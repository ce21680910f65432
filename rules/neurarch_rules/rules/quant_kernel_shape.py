from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.places import place
from neurarch_rules.facts.quantization import quantization
from neurarch_rules.facts.widths import feed_forward_widths

RULE = RuleInfo(
    name="quant-kernel-shape",
    severity="warning",
    category="serving",
    summary="A matrix whose shape the fast kernels for this quantization refuse, or that its groups do not divide",
    needs=("quantization_config", "compression_config"),
)

KERNEL_INPUT = 128
"""Marlin kernels want the input dimension of a matrix to be a multiple of this (vLLM, marlin_utils)."""


def check(context: Context) -> Iterator[Finding]:
    config, block = decoder_config(context), quantization(context.analysis)
    if (
        config is None
        or block is None
        or block.method not in ("gptq", "awq", "compressed-tensors")
        or block.integer("bits") not in (4, 8, None)
    ):
        return
    group = block.group_size
    hidden = geometry.hidden_size(config)
    widths = feed_forward_widths(context, config)
    if hidden is not None:
        widths.append(hidden)
    for width in widths:
        key = "config_groups" if block.method == "compressed-tensors" else "group_size"
        where = (Related(block.place(key), f"group_size is {group}"),) if group else ()
        if group and width.value % group:
            yield Finding(
                f"{width.value} is not a multiple of the {block.method} group size {group} ({width.value} % {group} = "
                f"{width.value % group}): the last group of each row is incomplete, and kernels refuse it",
                place(config, width.key),
                where,
            )
        elif block.method != "compressed-tensors" and width.value % KERNEL_INPUT:
            padded = -(-width.value // KERNEL_INPUT) * KERNEL_INPUT
            yield Finding(
                f"{width.value} % {KERNEL_INPUT} = {width.value % KERNEL_INPUT}: the Marlin kernels for "
                f"{block.method} need "
                f"multiples of {KERNEL_INPUT} even on one GPU; use the plain {block.method} kernel or pad to {padded}",
                place(config, width.key),
                where,
            )
