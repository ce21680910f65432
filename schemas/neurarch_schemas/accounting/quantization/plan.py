"""From ``quantization_config`` to a plan: which matrices are stored under which scheme."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any, Literal

from neurarch_schemas.accounting.quantization.names import Name, Names, fold_experts
from neurarch_schemas.accounting.quantization.schemes import (
    Awq,
    BitsAndBytes,
    EightBit,
    FourBitFloat,
    Gptq,
    PackedIntegers,
    Scheme,
)
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.record import Record

Fields = Mapping[str, JSONValue]
NVFP4 = FourBitFloat("NVFP4", 16, "float8_e4m3fn", 2)
MXFP4 = FourBitFloat("MXFP4", 32, "uint8", 0)

_ALGORITHM = itemgetter("quant_algo")

EVERY = Names(frozenset(), ())


class Group(Record):
    """``targets`` name modules; empty means every linear layer."""

    scheme: Scheme
    targets: Names = EVERY


class Plan(Record):
    """Modules in ``skipped`` stay as they are; ``only_experts``: nothing else is converted."""

    groups: tuple[Group, ...]
    skipped: Names
    only_experts: bool = False
    head: bool = False
    """Whether the LM head may be quantized too."""

    def group_of(self, name: Name) -> int | None:
        """The first of ``groups`` that a module belongs to, None when it keeps the model's dtype."""
        if self.skipped.match(name):
            return None
        for index, group in enumerate(self.groups):
            if not group.targets or group.targets.match(name):
                return index
        return None


def read_plan(fields: Fields) -> Plan | str:
    """The plan, or why none can be made."""
    method = str(fields.get("quant_method") or "").lower().replace("_", "-")
    if method in ("fp8", "fbgemm-fp8") and "config_groups" not in fields and "quant_algo" not in fields:
        return Plan((Group(_fine_grained(fields)),), _skipped(fields))
    if method == "gptq":
        scheme: Scheme = Gptq("GPTQ", _integer(fields, "bits", 4), _integer(fields, "group_size", 128))
        return Plan((Group(scheme),), _skipped(fields), head=bool(fields.get("lm_head")))
    if method == "awq":
        scheme = Awq("AWQ", _integer(fields, "bits", 4), _integer(fields, "group_size", 128))
        return Plan((Group(scheme),), _skipped(fields))
    if method == "mxfp4":
        return Plan((Group(MXFP4),), _skipped(fields), only_experts=True)
    if method in ("bitsandbytes", "bitsandbytes-4bit", "bitsandbytes-8bit"):
        bits = 4 if fields.get("load_in_4bit") or fields.get("_load_in_4bit") or method.endswith("4bit") else 8
        scheme = BitsAndBytes(f"bitsandbytes {bits}-bit", bits, bool(fields.get("bnb_4bit_use_double_quant")))
        return Plan((Group(scheme),), _skipped(fields))
    if method in ("compressed-tensors", "modelopt", "fp8", "") and _is_grouped(fields):
        return _grouped(fields)
    return f"the layout of quantization method {method or 'without a name'} is not known"


def _is_grouped(fields: Fields) -> bool:
    return any(key in fields for key in ("config_groups", "quant_algo", "quantized_layers"))


def _fine_grained(fields: Fields) -> Scheme:
    block = fields.get("weight_block_size")
    if isinstance(block, list) and len(block) == 2 and all(isinstance(size, int) and size > 0 for size in block):
        rows, columns = (size for size in block if isinstance(size, int))
        scale = "float8_e8m0fnu" if fields.get("scale_fmt") == "ue8m0" and "expert_dtype" in fields else "float32"
        return EightBit(f"FP8 in blocks of {rows}x{columns}", "float8_e4m3fn", scale, "block", (rows, columns))
    static = fields.get("activation_scheme") == "static"
    return EightBit("FP8, one scale a tensor", "float8_e4m3fn", "float32", "tensor", input_scale=static)


def listed_algorithms(listed: Mapping[str, Any]) -> set[str]:
    """What ``quantized_layers`` says of its layers; it may list tens of thousands."""
    try:
        return {str(algorithm) for algorithm in set(map(_ALGORITHM, listed.values()))}
    except (KeyError, TypeError):
        return {_algorithm(layer) for layer in listed.values()}


def _algorithm(layer: JSONValue) -> str:
    return str(layer.get("quant_algo")) if isinstance(layer, dict) else ""


def _grouped(fields: Fields) -> Plan | str:
    """compressed-tensors and ModelOpt: groups of targets, or layers listed one by one."""
    listed = fields.get("quantized_layers")
    if isinstance(listed, dict) and listed:
        names: dict[str, list[str]] = {}
        for name, layer in fold_experts(listed.items()):
            names.setdefault(_algorithm(layer), []).append(name)
        unknown = sorted(names.keys() - _MODELOPT.keys())
        if unknown:
            return f"the layout of {', '.join(unknown)} is not known"
        return Plan(tuple([Group(_MODELOPT[one], Names.of(names[one])) for one in names]), _skipped(fields))
    written = fields.get("config_groups")
    if isinstance(written, dict) and written:
        found: list[Group] = []
        for group in written.values():
            scheme = _compressed(group, fields) if isinstance(group, dict) else None
            if scheme is None:
                return "a group of quantization_config has a layout that is not known"
            targets = _texts(group.get("targets")) if isinstance(group, dict) else []
            found.append(Group(scheme, EVERY if "Linear" in targets else Names.of(targets)))
        return Plan(tuple(found), _skipped(fields))
    algorithm = str(fields.get("quant_algo"))
    if algorithm in _MODELOPT:
        return Plan((Group(_MODELOPT[algorithm]),), _skipped(fields))
    return f"the layout of {algorithm} is not known"


_MODELOPT: dict[str, Scheme] = {
    "NVFP4": NVFP4,
    "W4A16_NVFP4": NVFP4,
    "FP8": EightBit("FP8, one scale a tensor", "float8_e4m3fn", "float32", "tensor", input_scale=True),
    "MXFP8": EightBit("MXFP8", "float8_e4m3fn", "uint8", "group", (1, 32)),
}


def _compressed(group: Fields, fields: Fields) -> Scheme | None:
    weights = group.get("weights")
    if not isinstance(weights, dict):
        return None
    bits, kind = weights.get("num_bits"), weights.get("type")
    size = weights.get("group_size")
    size = size if isinstance(size, int) and size > 0 else None
    form = str(group.get("format") or fields.get("format") or "")
    if kind == "float" and bits == 4:
        return MXFP4 if size == 32 else NVFP4
    if bits == 8:
        strategy, block = _strategy(weights, size)
        inputs = group.get("input_activations")
        static = isinstance(inputs, dict) and inputs.get("dynamic") is False
        dtype = "float8_e4m3fn" if kind == "float" else "int8"
        modelopt = "quant_algo" in fields
        name = f"{'FP8' if kind == 'float' else 'INT8'}, scales by {strategy}"
        return EightBit(name, dtype, "float32" if modelopt else "bfloat16", strategy, block, static)
    if kind == "int" and isinstance(bits, int) and bits in (2, 4) and form in ("pack-quantized", ""):
        return PackedIntegers(f"INT{bits}, packed", bits, size, weights.get("symmetric") is not False)
    return None


def _strategy(
    weights: Fields, size: int | None
) -> tuple[Literal["tensor", "channel", "group", "block"], tuple[int, int]]:
    structure = weights.get("block_structure")
    if weights.get("strategy") == "block" and isinstance(structure, list) and len(structure) == 2:
        rows, columns = structure
        if isinstance(rows, int) and isinstance(columns, int) and rows > 0 and columns > 0:
            return "block", (rows, columns)
    if weights.get("strategy") == "channel":
        return "channel", (1, 1)
    if size is not None:
        return "group", (1, size)
    return "tensor", (1, 1)


def _skipped(fields: Fields) -> Names:
    written: list[str] = []
    for key in ("modules_to_not_convert", "ignore", "exclude_modules", "llm_int8_skip_modules"):
        written.extend(_texts(fields.get(key)))
    return Names.of(written)


def _texts(value: JSONValue) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _integer(fields: Fields, key: str, default: int) -> int:
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value else default
