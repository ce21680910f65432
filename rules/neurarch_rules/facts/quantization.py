"""Quantization blocks as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.engine.finding import Place
from neurarch_rules.facts.places import whole_number
from neurarch_schemas.documents.pointer import join_pointer
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONValue

NOT_CONVERTED = (
    "modules_to_not_convert",
    "exclude_modules",
    "ignored_layers",
    "ignore",
    "llm_int8_skip_modules",
    "modules_to_not_quantize",
)
"""Keys whose entries name modules left unquantized."""
GROUPED = ("gptq", "awq", "auto-round", "intel/auto-round")
OTHER_ENGINES = frozenset(
    (
        "modelopt",
        "modelopt_fp4",
        "modelopt_mixed",
        "mlx",
        "quark",
        "gptq_marlin",
        "awq_marlin",
        "marlin",
        "w8a8_int8",
        "w8a8_fp8",
        "deepspeedfp",
        "experts_int8",
        "ptpc_fp8",
        "moe_wna16",
        "qqq",
        "squeezellm",
        "neuron_quant",
        "petit_nvfp4",
        "exl2",
        "exl3",
        "intel/auto-round",
        "torchao",
        "bitsandbytes_4bit",
        "bitsandbytes_8bit",
        "fp8_e4m3",
        "blockwise_int8",
        "inc",
        "exllama",
    )
)
"""Methods of serving engines which transformers does not list."""


class Quantization(Record):
    """``method`` is the written quant_method, lower case, or None."""

    values: dict[str, JSONValue]
    pointer: str

    @property
    def method(self) -> str | None:
        value = self.values.get("quant_method")
        return value.lower() if isinstance(value, str) else None

    def place(self, *keys: str | int) -> Place:
        return Place(join_pointer(self.pointer, *keys))

    def integer(self, name: str) -> int | None:
        return whole_number(self.values.get(name))

    @property
    def group_size(self) -> int | None:
        """Weights that share one scale along the input, where the method has groups."""
        size = self.integer("group_size") if self.method != "compressed-tensors" else self._group_of_all_layers()
        return size if size is not None and size > 0 else None

    def _group_of_all_layers(self) -> int | None:
        """compressed-tensors: the group size of a scheme that holds for every linear layer."""
        groups = self.values.get("config_groups")
        for group in groups.values() if isinstance(groups, dict) else ():
            targets = group.get("targets") if isinstance(group, dict) else None
            weights = group.get("weights") if isinstance(group, dict) else None
            if isinstance(targets, list) and "Linear" in targets and isinstance(weights, dict):
                return whole_number(weights.get("group_size"))
        return None

    @property
    def block(self) -> tuple[int, int] | None:
        """(output, input) size of a block of FP8 weights that share one scale."""
        size = self.values.get("weight_block_size")
        if isinstance(size, list) and len(size) == 2:
            rows, columns = whole_number(size[0]), whole_number(size[1])
            if rows and columns and rows > 0 and columns > 0:
                return rows, columns
        return None


def quantization(analysis: Analysis) -> Quantization | None:
    """The block of the document, at the top or inside its text config."""
    data = analysis.document.data
    if not isinstance(data, dict):
        return None
    for keys in (("quantization_config",), ("text_config", "quantization_config"), ("compression_config",)):
        found: JSONValue = data
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, dict) and found:
            return Quantization(found, join_pointer("", *keys))
    return None
