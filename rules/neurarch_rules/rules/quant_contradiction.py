from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.quantization import Quantization, quantization
from neurarch_rules.facts.words import either, quoted

RULE = RuleInfo(
    name="quant-contradiction",
    severity="error",
    category="correctness",
    summary="Two statements of a quantization block exclude each other, or a width that does not exist",
    needs=("quantization_config", "compression_config"),
)

BITS = {"gptq": (2, 3, 4, 8), "awq": (4,), "bitsandbytes": (4, 8)}


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
                    "the "
                    "weights as bitsandbytes",
                    block.place(name),
                    (Related(block.place("quant_method"), f"quant_method is {quoted(block.method)}"),),
                )
    yield from _width(block)
    size = block.integer("group_size")
    if size is not None and (size == 0 or size < -1):
        yield Finding(
            f"group_size {size}: groups have a positive size, or -1 for one group per row", block.place("group_size")
        )


def _width(block: Quantization) -> Iterator[Finding]:
    bits = block.integer("bits")
    legal = BITS.get(block.method or "")
    if bits is not None and legal is not None and bits not in legal:
        yield Finding(
            f"{block.method} has no {bits}-bit weights: bits may be {either(legal)}",
            block.place("bits"),
            (Related(block.place("quant_method"), f"quant_method is {quoted(block.method)}"),),
        )
    yield from _fp8(block)
    kind = block.values.get("bnb_4bit_quant_type")
    if isinstance(kind, str) and kind not in ("nf4", "fp4"):
        yield Finding(f'bnb_4bit_quant_type is "nf4" or "fp4", not {quoted(kind)}', block.place("bnb_4bit_quant_type"))


def _fp8(block: Quantization) -> Iterator[Finding]:
    if block.method != "fp8":
        return
    scheme = block.values.get("activation_scheme")
    if scheme is not None and scheme not in ("dynamic", "static"):
        yield Finding(
            f'activation_scheme is "dynamic" or "static", not {quoted(scheme)}', block.place("activation_scheme")
        )
    size = block.values.get("weight_block_size")
    if size is not None and block.block is None:
        yield Finding(
            f"weight_block_size {quoted(size)} must be two positive numbers, rows and columns of a block",
            block.place("weight_block_size"),
        )
