"""The scalars and bytes a quantized checkpoint of a tree holds."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import NamedTuple

from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.accounting.quantization.names import Name
from neurarch_schemas.accounting.quantization.plan import Plan
from neurarch_schemas.modules.tree import Module, Part, Stack, Tensor
from neurarch_schemas.record import Record

MOST_NAMES = 20_000
"""Names looked up one by one; a model with more layers than that is not predicted."""

QUANTIZED = frozenset({"Linear", "Experts"})
"""Types of modules whose matrices may be stored in another way."""

LEFT_ALONE: frozenset[Part] = frozenset({"router", "embedding", "position", "norm", "head", "convolution"})
"""Parts whose matrices quantizers keep in the model's dtype unless told otherwise."""


class Prediction(Record):
    """``schemes`` says how many matrices are stored under each scheme."""

    scalars: int
    bytes: int
    scale_scalars: int
    schemes: tuple[tuple[str, int], ...]
    part_bytes: tuple[tuple[Part, int], ...]
    """``bytes`` by part of the network."""


class TooManyNames(Exception):
    """More distinct module names than are looked up one by one."""


def predict(tree: Module, plan: Plan, dtype: str) -> Prediction | None:
    """None where the model has too many distinct names to look up. ``dtype`` is that of what stays unquantized."""
    scalars = size = scales = 0
    parts: dict[Part, int] = {}
    used: dict[str, int] = {}
    try:
        for module, part, names, repeat in _placed(tree):
            before = size
            for tensor in module.tensors:
                if tensor.tied_to is not None:
                    continue
                matrices = _matrices(module, tensor, part, plan)
                groups = Counter(map(plan.group_of, names)) if matrices else {None: len(names)}
                for group, places in groups.items():
                    layers = places * repeat
                    if group is None or matrices is None:
                        scalars += tensor.scalars * layers
                        size += size_in_bytes(tensor.scalars, dtype) * layers
                        continue
                    scheme = plan.groups[group].scheme
                    times, outputs, inputs = matrices
                    used[scheme.name] = used.get(scheme.name, 0) + times * layers
                    for position, (kind, amount) in enumerate(scheme.stored(outputs, inputs)):
                        scalars += amount * times * layers
                        size += size_in_bytes(amount, kind) * times * layers
                        scales += amount * times * layers if position else 0
            parts[part] = parts.get(part, 0) + size - before
    except TooManyNames:
        return None
    return Prediction(scalars, size, scales, tuple(used.items()), tuple(parts.items()))


def _matrices(module: Module, tensor: Tensor, part: Part, plan: Plan) -> tuple[int, int, int] | None:
    """How many matrices (times, outputs, inputs) a tensor is in the files; None where it is never quantized.

    Fused experts are stored one matrix an expert and projection.
    """
    if module.type == "Experts" and len(tensor.shape) == 3:
        experts, rows, columns = tensor.shape
        if tensor.name == "gate_up_proj" and rows == 2 * columns:
            return 2 * experts, rows // 2, columns
        hidden = module.width_in or columns
        outputs, inputs = (rows, columns) if columns == hidden or rows == hidden else (columns, rows)
        if tensor.name == "gate_up_proj":
            inner, outer = (outputs, inputs) if inputs == hidden else (inputs, outputs)
            return 2 * experts, inner // 2, outer
        return experts, outputs, inputs
    if plan.only_experts or module.type != "Linear" or tensor.name != "weight" or len(tensor.shape) != 2:
        return None
    if part in LEFT_ALONE and not (part == "head" and plan.head):
        return None
    return 1, tensor.shape[0], tensor.shape[1]


class Placed(NamedTuple):
    """One distinct module with the part it is in and the names it stands under, ``times`` under each.

    Of a module that holds nothing to quantize, as many names are those of the module around it.
    """

    module: Module
    part: Part
    names: list[Name]
    times: int = 1


def _placed(tree: Module) -> list[Placed]:
    """Each distinct module of a tree once. Raises TooManyNames where they have more than MOST_NAMES together."""
    found: list[Placed] = []
    _place(found, Placed(tree, "other", [Name("", "")]), MOST_NAMES)
    return found


def _place(found: list[Placed], at: Placed, most: int) -> int:
    """Gives how many more names may follow."""
    module, part, names, times = at
    most -= len(names)
    part = module.part or part
    found.append(Placed(module, part, names, times))
    for key, child in module.children:
        if isinstance(child, Module) and not child.children and child.type not in QUANTIZED:
            # Nobody asks for the names of norms and the like.
            most = _place(found, Placed(child, part, names, times), most)
            continue
        below = [name.child(key) for name in names]
        if not isinstance(child, Stack):
            most = _place(found, Placed(child, part, below, times), most)
            continue
        # Experts listed one by one are one name to the lists of quantizers.
        folded = key == "experts"
        if most < 0 or len(below) * (1 if folded else child.length) > most:
            raise TooManyNames
        indices: dict[int, list[str]] = {}
        index = child.first_index
        for run in child.runs:
            for _, item in product(range(run.times), run.modules):
                indices.setdefault(id(item), []).append(str(index))
                index += 1
        for item, count in child.distinct():
            places = indices[id(item)][:1] if folded else indices[id(item)]
            each = [name.child(place) for name in below for place in places]
            most = _place(found, Placed(item, part, each, times * count if folded else times), most)
    return most
