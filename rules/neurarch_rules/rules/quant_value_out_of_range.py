from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.allowed import guess, requirement
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import whole_number
from neurarch_rules.facts.quantization import Quantization, quantization
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import either, quoted
from neurarch_schemas.documents.json_value import JSONValue

RULE = RuleInfo(
    name="quant-value-out-of-range",
    severity="error",
    category="correctness",
    summary="A value of a quantization block that its method refuses: a width, a word or a group it does not have",
    needs=("quantization_config", "compression_config"),
)

SAME_CLASS = {
    "intel/auto-round": "auto-round",
    "bitsandbytes_4bit": "bitsandbytes",
    "bitsandbytes_8bit": "bitsandbytes",
}
PARTS = ("weights", "input_activations", "output_activations")
GROUPED = ("group", "tensor_group")


def check(context: Context) -> Iterator[Finding]:
    block = quantization(context.analysis)
    if block is None:
        return
    method = _method(block)
    for name, allowed in facts("quantization_values")["methods"].get(method, {}).items():
        if allowed.get("required") and block.values.get(name) is None:
            yield Finding(
                f"{method} needs {name}: transformers cannot make sense of the block without it",
                block.place(name),
                (Related(block.place("quant_method"), f"quant_method is {quoted(block.method)}"),),
            )
        else:
            yield from _value(context, block, method, name, block.values.get(name), allowed, name)
    size = block.integer("group_size")
    if size is not None and (size == 0 or size < -1):
        yield Finding(
            f"group_size {size}: groups have a positive size, or -1 for one group per row", block.place("group_size")
        )
    if method == "compressed-tensors":
        yield from _schemes(context, block)
    elif method == "torchao":
        yield from _torchao(block)


def _method(block: Quantization) -> str:
    if block.method is None and any(block.values.get(name) is True for name in ("load_in_4bit", "load_in_8bit")):
        return "bitsandbytes"
    return SAME_CLASS.get(block.method or "", block.method or "")


def _value(
    context: Context,
    block: Quantization,
    method: str,
    name: str,
    value: JSONValue,
    allowed: Mapping[str, Any],
    *path: str | int,
) -> Iterator[Finding]:
    must = requirement(value, allowed)
    if must is None:
        return
    place, meant = block.place(*path), guess(value, allowed)
    if allowed.get("typos_only") and meant is None:
        return  # new names come with every release
    shown = must if not allowed.get("typos_only") else f'a known one (did you mean "{meant}"?)'
    fixes: tuple[Fix, ...] = ()
    if meant is not None and place.pointer is not None:
        fixes = replace_value(context.analysis, place.pointer, meant, f'{name} = "{meant}"', "unsafe")
    yield Finding(
        f"{name} of {method} must be {shown}, not {quoted(value)}: "
        + allowed.get("consequence", "the model cannot be loaded"),
        place,
        (Related(block.place("quant_method"), f"quant_method is {quoted(block.method)}"),) if block.method else (),
        fixes,
        severity=allowed.get("severity"),
    )


def _schemes(context: Context, block: Quantization) -> Iterator[Finding]:
    """The arguments of each group of modules, and of the KV cache."""
    groups = block.values.get("config_groups")
    for label, group in groups.items() if isinstance(groups, dict) else ():
        if isinstance(group, dict):
            for part in PARTS:
                yield from _scheme(context, block, group.get(part), "config_groups", label, part)
    yield from _scheme(context, block, block.values.get("kv_cache_scheme"), "kv_cache_scheme")


def _scheme(context: Context, block: Quantization, values: JSONValue, *path: str) -> Iterator[Finding]:
    if not isinstance(values, dict):
        return
    for name, allowed in facts("quantization_values")["scheme"].items():
        yield from _value(context, block, "compressed-tensors", name, values.get(name), allowed, *path, name)
    strategy, size, shape = (
        values.get("strategy"),
        whole_number(values.get("group_size")),
        values.get("block_structure"),
    )
    if strategy in GROUPED and (size is None or size <= 0):
        yield Finding(
            f"strategy {quoted(strategy)} needs a positive group_size: compressed-tensors refuses the block",
            block.place(*path, "group_size" if "group_size" in values else "strategy"),
            (Related(block.place(*path, "strategy"), f"strategy is {quoted(strategy)}"),),
        )
    elif isinstance(strategy, str) and strategy not in GROUPED and size is not None and size > 0:
        yield Finding(
            f"group_size {size} goes with strategy group, not {strategy}: compressed-tensors refuses the block",
            block.place(*path, "group_size"),
            (Related(block.place(*path, "strategy"), f"strategy is {quoted(strategy)}"),),
        )
    if isinstance(strategy, str) and (strategy == "block") != (shape is not None):
        yield Finding(
            "strategy block and block_structure need each other: compressed-tensors refuses the block",
            block.place(*path, "strategy"),
        )
    if strategy == "token" and values.get("dynamic") in (False, None):
        yield Finding(
            "one scale a token can only be computed while running: strategy token needs dynamic true",
            block.place(*path, "dynamic" if "dynamic" in values else "strategy"),
        )


def _torchao(block: Quantization) -> Iterator[Finding]:
    """quant_type is what torchao writes of its own configuration: {"default": {"_type": ..., "_data": ...}}."""
    kind, words = block.values.get("quant_type"), facts("quantization_values")["torchao_words"]
    if isinstance(kind, str) and kind in words:
        yield Finding(
            f"transformers 5 no longer takes the word {quoted(kind)} for a quant_type and refuses the block: save the "
            "model again, so that torchao's configuration is written out",
            block.place("quant_type"),
            severity="warning",
        )
    elif isinstance(kind, str):
        yield Finding(
            f"torchao has no quantization {quoted(kind)}: releases of transformers that take a word know "
            f"{either([quoted(word) for word in words])}",
            block.place("quant_type"),
        )
    elif isinstance(kind, dict):
        inner = kind.get("default")
        if len(kind) != 1 or not isinstance(inner, dict) or not {"_type", "_data"} <= inner.keys():
            yield Finding(
                'quant_type must be {"default": {"_type": ..., "_data": ...}}, as torchao writes its configuration: '
                "transformers refuses the block",
                block.place("quant_type"),
            )
            return
        name, classes = inner["_type"], facts("quantization_values")["torchao_classes"]
        meant = closest(name, classes) if isinstance(name, str) and name not in classes else None
        if meant is not None and _digits(meant) == _digits(str(name)):
            yield Finding(
                f"torchao has no class {name} (did you mean {meant}?): the model cannot be loaded",
                block.place("quant_type", "default", "_type"),
            )


def _digits(name: str) -> str:
    """Widths in a name: another width is another class, which a newer torchao may have."""
    return "".join(letter for letter in name if letter.isdigit())
