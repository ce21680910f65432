from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, written
from neurarch_rules.facts.quantization import quantization
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import quoted
from neurarch_schemas.accounting.dtypes import torch_dtype
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="unknown-dtype",
    severity="error",
    category="correctness",
    summary="A dtype string that is not a name on torch",
    aliases=("quant-dtype-string",),
    needs=("dtype", "quant_storage"),
    about="key",
)

KEYS = ("dtype", "torch_dtype")
QUANTIZATION_KEYS = ("bnb_4bit_compute_dtype", "bnb_4bit_quant_storage", "compute_dtype", "weights_dtype")


def check(context: Context) -> Iterator[Finding]:
    places: list[tuple[str, str, object]] = []
    for config in configs(context):
        data = written(context.analysis, config)
        if config.is_native or not config.pointer:
            places += ((key, join_pointer(config.pointer, key), data.get(key)) for key in KEYS)
    block = quantization(context.analysis)
    if block is not None and (block.method or "bitsandbytes").startswith("bitsandbytes"):
        places += ((key, join_pointer(block.pointer, key), block.values.get(key)) for key in QUANTIZATION_KEYS)
    if not places:
        return
    from neurarch_schemas.catalogue.load import enumerations

    known = frozenset(enumerations()["dtypes"])
    for key, pointer, value in places:
        if key in KEYS and isinstance(value, str) and value in known and value.startswith(("int", "uint", "bool", "q")):
            yield Finding(
                f"{key} {quoted(value)} is no floating-point type: transformers cannot make the parameters; the width "
                "of quantized weights stands in quantization_config",
                Place(pointer),
                severity=None if _is_native(context) else "warning",
            )
            continue
        if (
            not isinstance(value, str)
            or value in known
            or (value == "auto" and key in KEYS and not _is_native(context))
        ):
            continue
        meant = torch_dtype(value) or closest(value.removeprefix("torch."), known)
        yield Finding(
            f"{key} {quoted(value)} is looked up as a name on torch, which has none"
            + (f": write {quoted(meant)}" if meant else "; the config cannot be loaded"),
            Place(pointer),
            fixes=replace_value(context.analysis, pointer, meant, f'{key} = "{meant}"') if meant else (),
            severity=None if _is_native(context) else "warning",
        )


def _is_native(context: Context) -> bool:
    return context.analysis.config is not None and context.analysis.config.is_native
