"""Instances of modules to the module tree: equal layers become one, what shares storage is told as tied."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.annotate import note, without_caches
from neurarch_schemas.interpreter.budgets import BudgetExceeded
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor as SymbolicTensor
from neurarch_schemas.interpreter.values import Instance
from neurarch_schemas.modules.tree import Module, Run, Stack, Tensor, TensorKind, join

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_NONE: dict[str, Any] = {}
_LONGEST_PERIOD = 24
_MOST_PLACES = 500_000
"""Every reader of a tree walks it by path, so a tree that shares its parts must stay small when written out."""


@dataclass
class Conversion:
    """What was met on the way: unknown shapes, and attributes that may hold modules nobody saw."""

    problems: list[str]
    lazy: bool = False
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Pattern of a submodule's path -> file and line it is registered at."""


class _Converter:
    def __init__(self, machine: Machine) -> None:
        self.seen: dict[int, str] = {}
        """Tensor -> the full name it was first met under."""
        self.interned: dict[object, Module] = {}
        self.conversion = Conversion([])
        self.places = machine.state.get("places", {})
        self.unknown = machine.state.get("unknown attributes", {})
        self.unknown_owners = {key[0] for key in self.unknown}
        self.depth = 0
        self.converted: set[int] = set()
        """Instances met before: their tensors are all tied from then on."""
        self.again: dict[tuple[int, str], Module] = {}
        """(instance, its name in its parent) -> the module it is wherever it is met again."""
        self.sizes: dict[int, int] = {}
        """Interned module -> places in the tree below it, as a reader that walks it meets them."""
        self.meter = machine.meter
        self.unsure = False
        """Some layer may keep a cache nobody can tell from its structure."""

    def problem(self, text: str) -> None:
        if text not in self.conversion.problems and len(self.conversion.problems) < 20:
            self.conversion.problems.append(text)

    def module(self, instance: Instance, path: str, pattern: str, name: str) -> Module:
        """What is shared is converted twice for each name at most, however many ways lead to it.

        ``pattern`` is the path with ``{}`` for indices, ``name`` its last part.
        """
        number = id(instance)
        if number not in self.converted:
            made = self._module(instance, path, pattern, name)
            self.converted.add(number)
            return made
        known = self.again.get((number, name))
        if known is None:
            known = self.again[number, name] = self._module(instance, path, pattern, name)
        return known

    def _module(self, instance: Instance, path: str, pattern: str, own_name: str) -> Module:
        self.meter.work(1)
        self.depth += 1
        if self.depth > 100:
            self.problem("modules nest deeper than 100, or a module contains itself")
            self.depth -= 1
            return Module(instance.cls.name)
        attrs = instance.attrs
        if id(instance) in self.unknown_owners:
            for (owner, name), (_, reason, where) in self.unknown.items():
                if owner == id(instance):
                    self.problem(f"{path + '.' if path else ''}{name} is unknown: {reason} ({where})")
        tensors: list[Tensor] = []
        for name, tensor in attrs.get("_parameters", _NONE).items():
            if tensor.__class__ is SymbolicTensor:
                tensors.append(self.tensor(name, tensor, "parameter", path))
        buffers = attrs.get("_buffers", _NONE)
        if buffers:
            hidden = attrs.get("_non_persistent_buffers_set", ())
            for name, tensor in buffers.items():
                if tensor.__class__ is SymbolicTensor and name not in hidden:
                    tensors.append(self.tensor(name, tensor, "buffer", path))
        children: list[tuple[str, Module | Stack]] = []
        for name, child in attrs.get("_modules", _NONE).items():
            if child is not None:
                child_path = f"{path}.{name}" if path else name
                child_pattern = join(pattern, name)
                place = self.places.get((id(instance), name))
                if place is not None and place[0] is not None:
                    self.conversion.places.setdefault(child_pattern, place)
                made = self.module(child, child_path, child_pattern, name)
                children.append((name, self.as_stack(made)))
        self.depth -= 1
        found = note(instance, dict(children) if children else _NONE, own_name)
        self.unsure = self.unsure or found.unsure
        return self.intern(
            Module(
                instance.cls.name,
                tuple(tensors),
                tuple(children),
                found.part,
                attention=found.attention,
                caches=found.caches,
                lookup=found.lookup,
            )
        )

    def intern(self, module: Module) -> Module:
        """Equal modules become one object; children are interned already, so their identity stands for them."""
        parts: list[object] = [module.type, module.tensors, module.part, module.attention, module.caches, module.lookup]
        for name, child in module.children:
            if isinstance(child, Module):
                parts.append((name, id(child)))
            else:
                parts.append((name, child.first_index, *((run.times, *map(id, run.modules)) for run in child.runs)))
        known = self.interned.setdefault(tuple(parts), module)
        if known is module:
            self.sizes[id(module)] = size = self._size(module)
            if size > _MOST_PLACES:
                raise BudgetExceeded(f"the tree of modules has more than {_MOST_PLACES:,} places")
        return known

    def _size(self, module: Module) -> int:
        """Runs count once, as in ``walk``."""
        size = 1 + len(module.tensors)
        for _, child in module.children:
            if isinstance(child, Module):
                size += self.sizes.get(id(child), 1)
            else:
                size += sum(self.sizes.get(id(item), 1) for run in child.runs for item in run.modules)
        return size

    def tensor(self, name: str, tensor: SymbolicTensor, kind: TensorKind, path: str) -> Tensor:
        full = f"{path}.{name}" if path else name
        if tensor.shape is None:
            if "lazy" in tensor.reason:
                self.conversion.lazy = True
            self.problem(f"the shape of {full} is unknown: {tensor.reason or 'it is computed'}")
        first = self.seen.setdefault(id(tensor), full)
        return Tensor(name, tensor.shape or (), kind, None if first == full else first)

    def as_stack(self, module: Module) -> Module | Stack:
        """A module that is only an indexed list of modules, as a run-length list."""
        if module.tensors or not module.children:
            return module
        if not module.children[0][0].isdecimal():
            return module
        names = [name for name, _ in module.children]
        first = int(names[0])
        if names != [str(first + index) for index in range(len(names))]:
            return module
        items = [
            item if isinstance(item, Module) else self.intern(Module("ModuleList", (), unstack(item)))
            for _, item in module.children
        ]
        return Stack(run_lengths(items), first)


def unstack(stack: Stack) -> tuple[tuple[str, Module | Stack], ...]:
    """The children of a list that stands in a list, whose items must be modules."""
    children: list[tuple[str, Module | Stack]] = []
    index = stack.first_index
    for run in stack.runs:
        for _ in range(run.times):
            for item in run.modules:
                children.append((str(index), item))
                index += 1
    return tuple(children)


def run_lengths(items: list[Module]) -> tuple[Run, ...]:
    """Greedy run-length coding with short periods: ``A A A B A B A B`` is 3 A, then 2 of (B, A), then B."""
    numbers: dict[int, int] = {}
    coded = [numbers.setdefault(id(item), len(numbers)) for item in items]
    runs: list[Run] = []
    place = 0
    while place < len(items):
        best_length, best_times = 1, 1
        for length in range(1, min(_LONGEST_PERIOD, (len(items) - place) // 2) + 1):
            pattern = coded[place : place + length]
            times = 1
            while coded[place + times * length : place + (times + 1) * length] == pattern:
                times += 1
            if times > 1 and times * length > best_length * best_times:
                best_length, best_times = length, times
                break
        runs.append(Run(tuple(items[place : place + best_length]), best_times))
        place += best_length * best_times
    return tuple(runs)


def convert(machine: Machine, instance: Instance) -> tuple[Module, Conversion]:
    converter = _Converter(machine)
    tree = converter.module(instance, "", "", "")
    return without_caches(tree) if converter.unsure else tree, converter.conversion
