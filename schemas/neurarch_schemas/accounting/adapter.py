"""Trainable parameters of a LoRA adapter against its base model's tree, as PEFT would build it.

Source: PEFT's LoRA layers. A matrix gets A ``(r, in)`` and B ``(out, r)``; an embedding the same over its rows; a
convolution A with the kernel and B with ones; DoRA adds one magnitude an output (arXiv:2402.09353).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod

from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.tree import Module, Visit, walk
from neurarch_schemas.record import Record

LINEAR = frozenset({"Linear", "Conv1D"})
LONGEST_PATTERN = 500
NOT_FOLLOWED = (
    "layers_to_transform",
    "rank_pattern",
    "target_parameters",
    "megatron_config",
    "use_bdlora",
    "exclude_modules",
)
"""Keys that change which matrices are adapted, or how, beyond what is derived here."""


class Adapter(Record):
    """``trainable`` None: not known, for ``reason``. ``modules`` is how many modules are adapted or trained whole."""

    trainable: int | None
    modules: int
    exact: bool
    reason: str | None


def count_adapter(fields: Mapping[str, JSONValue], base: Module) -> Adapter:
    method = fields.get("peft_type")
    if method != "LORA":
        return Adapter(None, 0, exact=False, reason=f"{method} adapters are not counted, only LORA")
    rank = fields.get("r", 8)
    targets = fields.get("target_modules")
    if not isinstance(rank, int) or isinstance(rank, bool) or rank <= 0:
        return Adapter(None, 0, exact=False, reason=f"r must be a positive integer, not {rank!r}")
    unsupported = [key for key in NOT_FOLLOWED if fields.get(key)]
    if unsupported:
        return Adapter(None, 0, exact=False, reason=f"{', '.join(unsupported)} is not followed")
    chosen = _chooser(targets)
    if chosen is None:
        return Adapter(None, 0, exact=False, reason="target_modules is neither a list of names nor a pattern")
    whole = _names(fields.get("modules_to_save"))
    trainable = modules = 0
    for visit in walk(base):
        name = visit.path.rpartition(".")[2]
        if whole and _ends_with(visit.path, whole):
            trainable += sum(prod(t.shape) for inner in walk(visit.module) for t in inner.module.tensors) * visit.times
            modules += visit.times
        elif name and chosen(visit):
            added = _added(visit.module, rank, dora=bool(fields.get("use_dora")))
            if added is None:
                return Adapter(
                    None, 0, exact=False, reason=f"an adapter on {visit.path} ({visit.module.type}) is not counted"
                )
            trainable += added * visit.times
            modules += visit.times
    bias = fields.get("bias", "none")
    if bias != "none":
        return Adapter(trainable, modules, exact=False, reason=f"biases (bias = {bias!r}) train besides")
    return Adapter(trainable, modules, exact=True, reason=None)


def _chooser(targets: JSONValue) -> Callable[[Visit], bool] | None:
    """Which modules get an adapter; None where ``target_modules`` says nothing usable."""
    if targets == "all-linear":
        return lambda visit: visit.module.type in LINEAR and visit.part not in ("head", "router")
    if isinstance(targets, str):
        try:
            pattern = re.compile(targets[:LONGEST_PATTERN])
        except re.error:
            return None
        return lambda visit: _has_matrix(visit.module) and pattern.fullmatch(visit.path.replace("{}", "0")) is not None
    names = _names(targets)
    return (lambda visit: _has_matrix(visit.module) and _ends_with(visit.path, names)) if names else None


def _names(value: JSONValue) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _ends_with(path: str, names: list[str]) -> bool:
    return any(path == name or path.endswith("." + name) for name in names)


def _has_matrix(module: Module) -> bool:
    return any(tensor.name == "weight" and len(tensor.shape) >= 2 for tensor in module.tensors)


def _added(module: Module, rank: int, *, dora: bool) -> int | None:
    """Scalars of the adapter of one module; None for a kind of module PEFT treats otherwise."""
    shape = next(tensor.shape for tensor in module.tensors if tensor.name == "weight")
    if module.type == "Linear" or module.type == "Embedding":
        outputs, inputs = shape
        if module.type == "Embedding" and dora:
            return None
        return rank * (inputs + outputs) + (outputs if dora else 0)
    if module.type == "Conv1D":
        inputs, outputs = shape
        return rank * (inputs + outputs) + (outputs if dora else 0)
    if re.fullmatch(r"Conv[123]d", module.type) and not dora:
        return rank * prod(shape[1:]) + shape[0] * rank
    return None
