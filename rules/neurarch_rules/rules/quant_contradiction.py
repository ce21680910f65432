from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.quantization import Quantization, quantization
from neurarch_rules.facts.words import quoted

RULE = RuleInfo(
    name="quant-contradiction",
    severity="error",
    category="correctness",
    summary="Two statements of a quantization block exclude each other",
    needs=("quantization_config", "compression_config"),
)


def check(context: Context) -> Iterator[Finding]:
    block = quantization(context.analysis)
    if block is None:
        return
    four, eight = block.values.get("load_in_4bit"), block.values.get("load_in_8bit")
    if four is True and eight is True:
        yield Finding(
            "load_in_4bit and load_in_8bit are both true: a weight can have only one of the two widths",
            block.place("load_in_8bit"),
            (Related(block.place("load_in_4bit"), "load_in_4bit is true"),),
        )
    elif block.method is not None and not block.method.startswith("bitsandbytes"):
        for name, value in (("load_in_4bit", four), ("load_in_8bit", eight)):
            if value is True:
                yield Finding(
                    f"{name} belongs to bitsandbytes, but quant_method is {quoted(block.method)}: transformers loads "
                    "the weights as bitsandbytes",
                    block.place(name),
                    (Related(block.place("quant_method"), f"quant_method is {quoted(block.method)}"),),
                )
    elif block.method == "bitsandbytes" and four is False and eight is False:
        yield Finding(
            "quant_method is bitsandbytes, but neither load_in_4bit nor load_in_8bit is true: transformers knows no "
            "such quantization and refuses to load the model",
            block.place("load_in_4bit"),
            (Related(block.place("load_in_8bit"), "load_in_8bit is false"),),
        )
    yield from _static_blocks(block)


def _static_blocks(block: Quantization) -> Iterator[Finding]:
    if block.method == "fp8" and block.block is not None and block.values.get("activation_scheme") == "static":
        yield Finding(
            "weights in blocks go with activations that are scaled while running: vLLM and SGLang refuse "
            'activation_scheme "static" beside weight_block_size',
            block.place("activation_scheme"),
            (Related(block.place("weight_block_size"), f"blocks of {block.block[0]} x {block.block[1]}"),),
            severity="warning",
        )
