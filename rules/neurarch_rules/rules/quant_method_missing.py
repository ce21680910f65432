from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import replace_value, set_value
from neurarch_rules.facts.quantization import OTHER_ENGINES, Quantization, quantization
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import quoted
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="quant-method-missing",
    severity="error",
    category="correctness",
    summary="A quantization block that does not say by which method, or names one that does not exist",
    needs=("quantization_config", "compression_config"),
)


MLX = frozenset(("group_size", "bits", "mode"))
"""Exactly these keys: a copy of ``quantization``, the block that mlx-lm reads, which names no method."""
GUESSED_BY_ENGINES = ("compressed-tensors", "modelopt")
"""Serving engines recognise these blocks by their keys."""


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    written = data.get("quantization_config") if isinstance(data, dict) else None
    if written is not None and not isinstance(written, dict):
        yield Finding(
            f"quantization_config must be an object that names its method, not {quoted(written)}: transformers cannot "
            "load the file",
            Place("/quantization_config"),
        )
    elif written == {}:
        yield Finding(
            "quantization_config is empty: transformers asks it for a method and refuses to load the model",
            Place("/quantization_config"),
        )
    block = quantization(context.analysis)
    if block is None or block.pointer.endswith("compression_config"):
        return
    value = block.values.get("quant_method")
    if value is None:
        if block.values.get("load_in_4bit") is True or block.values.get("load_in_8bit") is True:
            return
        guess = _method(block)
        fixes: tuple[Fix, ...] = ()
        if guess:
            title = f'quant_method = "{guess}"'
            fixes = set_value(context.analysis, block.pointer, "quant_method", guess, title, "unsafe")
        if block.values.keys() <= MLX and isinstance(data, dict) and "quantization" in data:
            return
        yield Finding(
            "quantization_config has no quant_method: transformers refuses to load the model"
            + (f" (its keys are those of {guess})" if guess else ""),
            block.place("quant_method"),
            fixes=fixes,
            severity="warning" if guess in GUESSED_BY_ENGINES else None,
        )
    elif isinstance(value, str):
        from neurarch_schemas.catalogue.load import enumerations

        own = {str(name) for name in enumerations()["quantization_methods"]}
        known = own | OTHER_ENGINES
        if value in known or value.lower() in OTHER_ENGINES:
            return
        pointer = join_pointer(block.pointer, "quant_method")
        if value.lower() in own:
            lower = value.lower()
            yield Finding(
                f"transformers knows {quoted(lower)} only in lower case, not {quoted(value)}: the model cannot be "
                "loaded",
                block.place("quant_method"),
                fixes=replace_value(context.analysis, pointer, lower, f'quant_method = "{lower}"'),
            )
            return
        guess = closest(value.lower(), known)
        if guess is not None:
            yield Finding(
                f"no engine has a quantization method {quoted(value)}: did you mean {quoted(guess)}?",
                block.place("quant_method"),
                fixes=replace_value(context.analysis, pointer, guess, f'quant_method = "{guess}"', "unsafe"),
            )


def _method(block: Quantization) -> str | None:
    """The method whose keys these are."""
    keys = block.values.keys()
    if any(key.startswith(("bnb_", "llm_int8")) for key in keys):
        return "bitsandbytes"
    if "config_groups" in keys or block.values.get("format") in ("float-quantized", "pack-quantized", "int-quantized"):
        return "compressed-tensors"
    if "quant_algo" in keys or "producer" in keys:
        return "modelopt"
    if "weight_block_size" in keys or block.values.get("fmt") in ("e4m3", "e5m2"):
        return "fp8"
    if "zero_point" in keys or block.values.get("version") in ("gemm", "gemv", "GEMM", "GEMV"):
        return "awq"
    if "desc_act" in keys or "damp_percent" in keys or "true_sequential" in keys:
        return "gptq"
    return None
