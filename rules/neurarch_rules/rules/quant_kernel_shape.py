from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.places import place, related
from neurarch_rules.facts.quantization import NOT_CONVERTED, Quantization, quantization
from neurarch_rules.facts.widths import attention_widths, feed_forward_widths
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="quant-kernel-shape",
    severity="warning",
    category="serving",
    summary="A matrix whose shape the fast kernels for this quantization refuse, or that its groups do not divide",
    needs=("quantization_config", "compression_config"),
)

KERNEL_INPUT = 128
"""Marlin kernels want the input dimension of a matrix to be a multiple of this (vLLM, marlin_utils)."""

LIMITED = ("modules_in_block_to_quantize", "dynamic", "block_name_to_quantize")
"""Keys that take modules in or out one by one."""
ATTENTION = ("attn", "attention", "_proj", "qkv", "layers", "blocks")


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
    if _covers_attention(block):
        widths += [item for item in attention_widths(config) if hidden is None or item.value != hidden.value]
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
    yield from _unpacked_keys(config, block)


def _unpacked_keys(config: ModelConfig, block: Quantization) -> Iterator[Finding]:
    """A 32-bit word holds the zero points of several outputs: those of the key projection must fill whole words."""
    bits, heads, size = block.integer("bits"), geometry.kv_heads(config), geometry.head_dim(config)
    if block.method not in ("gptq", "awq") or bits not in (4, 8) or geometry.is_latent(config):
        return
    if heads is None or size is None or not _covers_attention(block):
        return
    width, packed = heads.value * size, 32 // bits
    if width % packed:
        yield Finding(
            f"{heads.value} KV heads of {size} are {width} outputs, and {packed} of {bits} bits share a 32-bit word "
            f"({width} % {packed} = {width % packed}): {block.method} cannot pack the key and value projections",
            place(config, heads.key),
            (Related(block.place("bits"), f"bits is {bits}"), related(config, "head_dim")),
        )


def _covers_attention(block: Quantization) -> bool:
    """Whether the block names no module, in a list or by a pattern, that may be the attention."""
    named = [*(block.values.get(key) for key in NOT_CONVERTED), *(block.values.get(key) for key in LIMITED)]
    return block.method in ("gptq", "awq") and not any(
        word in str(names) for names in named if names for word in ATTENTION
    )
