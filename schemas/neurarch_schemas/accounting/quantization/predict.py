"""The scalars and bytes a quantized checkpoint of a tree holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.accounting.quantization.plan import Plan
from neurarch_schemas.modules.tree import Module, Part, Stack, Tensor
from neurarch_schemas.record import Record

MOST_NAMES = 20_000
"""Names looked up one by one; a model with more layers than that is not predicted."""

LEFT_ALONE: frozenset[Part] = frozenset({"router", "embedding", "position", "norm", "head", "convolution"})
"""Parts whose matrices quantizers keep in the model's dtype unless told otherwise."""


class Prediction(Record):
    """``schemes`` says how many matrices are stored under each scheme."""

    scalars: int
    bytes: int
    scale_scalars: int
    schemes: tuple[tuple[str, int], ...]


class TooManyNames(Exception):
    """More distinct module names than are looked up one by one."""


def predict(tree: Module, plan: Plan, dtype: str) -> Prediction | None:
    """None where the model has too many distinct names to look up. ``dtype`` is that of what stays unquantized."""
    scalars = size = scales = 0
    used: dict[str, int] = {}
    try:
        for name, module, part in _named_modules(tree):
            for tensor in module.tensors:
                if tensor.tied_to is not None:
                    continue
                matrices = _matrices(module, tensor, part, plan)
                scheme = plan.scheme_for(name) if matrices else None
                if scheme is None or matrices is None:
                    scalars += tensor.scalars
                    size += size_in_bytes(tensor.scalars, dtype)
                    continue
                times, outputs, inputs = matrices
                used[scheme.name] = used.get(scheme.name, 0) + times
                stored = scheme.stored(outputs, inputs)
                for position, (kind, amount) in enumerate(stored):
                    scalars += amount * times
                    size += size_in_bytes(amount, kind) * times
                    scales += amount * times if position else 0
    except TooManyNames:
        return None
    return Prediction(scalars, size, scales, tuple(used.items()))


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


def _named_modules(tree: Module) -> Iterator[tuple[str, Module, Part]]:
    """Every module with its concrete name, one by one. Raises TooManyNames beyond MOST_NAMES."""
    budget = [MOST_NAMES]
    yield from _walk(tree, "", "other", budget)


def _walk(module: Module, path: str, part: Part, budget: list[int]) -> Iterator[tuple[str, Module, Part]]:
    budget[0] -= 1
    if budget[0] < 0:
        raise TooManyNames
    part = module.part or part
    yield path, module, part
    for name, child in module.children:
        child_path = f"{path}.{name}" if path else name
        if isinstance(child, Stack):
            index = child.first_index
            for run in child.runs:
                if run.times * len(run.modules) > MOST_NAMES:
                    raise TooManyNames
                for _, item in product(range(run.times), run.modules):
                    yield from _walk(item, f"{child_path}.{index}", part, budget)
                    index += 1
        else:
            yield from _walk(child, child_path, part, budget)
