"""The names, classes and functions of a Python file, as far as its text decides them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from neurarch_rules.engine.finding import Fix, Place, Related
from neurarch_rules.facts.data import fact_set, facts
from neurarch_rules.facts.python_reach import Reach
from neurarch_schemas.config_calls.names import imported_names
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.python_nodes import kept, nodes

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_rules.engine.finding import Applicability
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.documents.python_units import Placed
    from neurarch_schemas.python_analysis import PythonAnalysis

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Site:
    """A node with the top-level statement it stands in."""

    placed: Placed
    node: ast.AST

    def __deepcopy__(self, memo: object) -> Site:
        return self

    def at(self, node: ast.AST) -> Site:
        return Site(self.placed, node)

    @property
    def span(self) -> Span:
        return self.placed.span(self.node)

    @property
    def place(self) -> Place:
        return Place(None, self.span)

    def related(self, message: str) -> Related:
        return Related(self.place, message)

    def replace(self, text: str, title: str, applicability: Applicability) -> Fix:
        return Fix(title, applicability, (TextEdit(self.span, text),))


class ClassFacts:
    def __init__(self, file: PythonFile, placed: Placed, node: ast.ClassDef) -> None:
        self.file = file
        self.placed = placed
        self.node = node
        self.name = node.name

    def __deepcopy__(self, memo: object) -> ClassFacts:
        return self

    def site(self, node: ast.AST) -> Site:
        return Site(self.placed, node)

    @cached_property
    def methods(self) -> dict[str, FunctionNode]:
        return {item.name: item for item in self.node.body if isinstance(item, FUNCTIONS)}

    @cached_property
    def bases(self) -> tuple[str | None, ...]:
        """Qualified names; None for what cannot be named."""
        return tuple(self.file.qualified(base) for base in self.node.bases)

    @cached_property
    def own_bases(self) -> tuple[ClassFacts, ...]:
        """The bases this file defines."""
        names = (base.id for base in self.node.bases if isinstance(base, ast.Name))
        return tuple(self.file.classes[name] for name in names if name in self.file.classes and name != self.name)

    @cached_property
    def is_module(self) -> bool:
        """Surely derived from ``torch.nn.Module``."""
        return self.file.derives_from_module(self, frozenset())

    @cached_property
    def lineage(self) -> tuple[ClassFacts, ...]:
        """The class and those of this file it derives from, each once, nearest first."""
        found: dict[str, ClassFacts] = {self.name: self}
        waiting = [self]
        while waiting:
            for base in waiting.pop(0).own_bases:
                if base.name not in found:
                    found[base.name] = base
                    waiting.append(base)
        return tuple(found.values())

    def _inherits_only(self, is_known: Callable[[str | None], bool]) -> bool:
        return all(
            is_known(base) or (isinstance(node, ast.Name) and node.id in self.file.classes)
            for each in self.lineage
            for base, node in zip(each.bases, each.node.bases, strict=True)
        )

    @cached_property
    def is_closed(self) -> bool:
        """Everything the class inherits is ``torch.nn.Module`` or stands in this file."""
        return self._inherits_only(lambda base: base == "torch.nn.Module")

    @cached_property
    def has_known_bases(self) -> bool:
        """Everything it inherits is a module of torch, Lightning or transformers, or stands in this file."""
        return self._inherits_only(self.file.is_module_base)

    def method(self, name: str) -> tuple[ClassFacts, FunctionNode] | None:
        """A method, own or inherited within the file."""
        return next(((found, found.methods[name]) for found in self.lineage if name in found.methods), None)

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr | None]]:
        """``self.NAME = value`` anywhere in the class, in order; None where the value is not one expression."""
        return kept(self.node, _assigned)


def _assigned(node: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
    found: dict[str, list[ast.expr | None]] = {}
    for method in {item.name: item for item in node.body if isinstance(item, FUNCTIONS)}.values():
        own = first_argument(method)
        for target, value in assigned_in(method):
            if is_attribute_of(target, own):
                found.setdefault(cast(ast.Attribute, target).attr, []).append(value)
    return found


class PythonFile:
    def __init__(self, analysis: PythonAnalysis) -> None:
        self.analysis = analysis
        self.text = analysis.document.text
        self.units = analysis.units

    @cached_property
    def imports(self) -> dict[str, str]:
        """Local name -> qualified name; relative imports begin with a dot."""
        return imported_names(self.units)

    @cached_property
    def classes(self) -> dict[str, ClassFacts]:
        return {
            node.name: ClassFacts(self, placed, node)
            for placed in self.units
            for node in placed.unit.body
            if isinstance(node, ast.ClassDef)
        }

    @cached_property
    def functions(self) -> dict[str, tuple[Placed, FunctionNode]]:
        return {
            node.name: (placed, node)
            for placed in self.units
            for node in placed.unit.body
            if isinstance(node, FUNCTIONS)
        }

    @cached_property
    def reach(self) -> Reach:
        return Reach(self.units, self.imports)

    @cached_property
    def derived(self) -> frozenset[ClassFacts]:
        """The classes that others of this file derive from."""
        return frozenset(base for found in self.classes.values() for base in found.own_bases)

    @cached_property
    def modules(self) -> tuple[ClassFacts, ...]:
        """The classes that are surely ``torch.nn.Module``."""
        return tuple(found for found in self.classes.values() if found.is_module)

    def calls(self, *names: str) -> Iterator[tuple[Placed, ast.Call]]:
        """Calls whose last name is one of these."""
        for name in names:
            for placed in self._calling.get(name, ()):
                for call in placed.unit.calls[name]:
                    yield placed, call

    @cached_property
    def _calling(self) -> dict[str, list[Placed]]:
        found: dict[str, list[Placed]] = {}
        for placed in self.units:
            for name in placed.unit.calls:
                found.setdefault(name, []).append(placed)
        return found

    def qualified(self, node: ast.AST) -> str | None:
        """``nn.Linear`` -> "torch.nn.Linear"; None for what is no imported name."""
        if isinstance(node, ast.Name):
            return None if node.id in self.classes else self.imports.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            return None if base is None else f"{base}.{node.attr}"
        return None

    def layer(self, call: ast.AST) -> str | None:
        """The name of a ``torch.nn`` layer a call makes."""
        call = unmoved(call)
        if not isinstance(call, ast.Call):
            return None
        name = self.qualified(call.func)
        if name is None or not name.startswith("torch.nn."):
            return None
        last = name.rpartition(".")[2]
        return last if last in facts("torch_layers")["parametric"] or last in facts("torch_layers")["plain"] else None

    def own_class(self, call: ast.AST) -> ClassFacts | None:
        """The module class of this file that a call makes an instance of."""
        call = unmoved(call)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            found = self.classes.get(call.func.id)
            return found if found is not None and found.is_module else None
        return None

    def makes_module(self, call: ast.AST) -> bool:
        return self.layer(call) is not None or self.own_class(call) is not None

    def is_parameter(self, node: ast.AST) -> bool:
        """``nn.Parameter(...)``."""
        return isinstance(node, ast.Call) and self.qualified(node.func) == "torch.nn.Parameter"

    def makes_parameters(self, call: ast.AST) -> bool:
        """Makes a module that surely holds parameters."""
        layer, call = self.layer(call), unmoved(call)
        if layer is not None:
            return has_parameters(layer, cast(ast.Call, call)) or (
                layer in ("Sequential", "ModuleList")
                and any(self.makes_parameters(child) for child in nodes(call) if child is not call)
            )
        own = self.own_class(call)
        return own is not None and self._holds_parameters(own, frozenset())

    def _holds_parameters(self, found: ClassFacts, seen: frozenset[str]) -> bool:
        if found.name in seen:
            return False
        seen |= {found.name}
        for node in nodes(found.node):
            if isinstance(node, ast.Call):
                layer = self.layer(node)
                if (layer is not None and has_parameters(layer, node)) or self.qualified(
                    node.func
                ) == "torch.nn.Parameter":
                    return True
                own = self.own_class(node)
                if own is not None and self._holds_parameters(own, seen):
                    return True
        return any(self._holds_parameters(base, seen) for base in found.own_bases)

    def derives_from_module(self, found: ClassFacts, seen: frozenset[str]) -> bool:
        if found.name in seen:
            return False
        seen |= {found.name}
        if any(self.is_module_base(base) for base in found.bases):
            return True
        return any(self.derives_from_module(base, seen) for base in found.own_bases)

    def is_module_base(self, name: str | None) -> bool:
        """A class of a library, by qualified name, that is a ``torch.nn.Module``."""
        if name is None:
            return False
        last = name.rpartition(".")[2]
        return (
            name in fact_set("torch_layers", "module_bases")
            or last in fact_set("torch_layers", "module_base_names")
            or (name.startswith("torch.nn.") and last in facts("torch_layers")["parametric"])
        )

    @cached_property
    def main_statements(self) -> tuple[tuple[Placed, ast.stmt], ...]:
        """What runs when the file is run: module level and ``if __name__ == "__main__"``, in order."""
        found: list[tuple[Placed, ast.stmt]] = []
        for placed in self.units:
            for node in placed.unit.body:
                if isinstance(node, ast.If) and any(
                    isinstance(name, ast.Name) and name.id == "__name__" for name in nodes(node.test)
                ):
                    found += ((placed, inner) for inner in node.body)
                else:
                    found.append((placed, node))
        return tuple(found)


def python_file(context: Context) -> PythonFile:
    """The facts of the file under check, made once."""
    return context.once("python-file", lambda: PythonFile(cast("PythonAnalysis", context.analysis)))


MOVING = frozenset(("to", "cuda", "cpu", "half", "float", "bfloat16", "double", "eval", "train", "requires_grad_"))
"""Methods of a module that return it."""


def unmoved(node: ast.AST) -> ast.AST:
    """``nn.Linear(8, 8).cuda()`` -> the call that makes the layer."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MOVING
        and isinstance(node.func.value, ast.Call)
    ):
        node = node.func.value
    return node


def has_parameters(layer: str, call: ast.Call) -> bool:
    if layer not in facts("torch_layers")["parametric"]:
        return False
    return not any(
        keyword.arg in ("affine", "elementwise_affine")
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
        for keyword in call.keywords
    )


def first_argument(function: FunctionNode) -> str:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else ""


def is_attribute_of(node: ast.AST, owner: str) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == owner != ""


def self_attribute(node: ast.AST) -> str | None:
    """``self.NAME`` -> NAME."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


ASSIGNING: frozenset[type[ast.AST]] = frozenset(
    (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.NamedExpr)
)


def assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Targets of an assigning statement with their values; None for a part of an unpacked value."""
    if node.__class__ not in ASSIGNING:
        return
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple | ast.List):
                values: list[ast.expr] | list[None] = (
                    node.value.elts
                    if isinstance(node.value, ast.Tuple | ast.List) and len(node.value.elts) == len(target.elts)
                    else [None] * len(target.elts)
                )
                yield from zip(target.elts, values, strict=True)
            else:
                yield target, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target, None
    elif isinstance(node, ast.For | ast.AsyncFor):
        targets = node.target.elts if isinstance(node.target, ast.Tuple | ast.List) else [node.target]
        yield from ((target, None) for target in targets)
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield from ((item.optional_vars, None) for item in node.items if item.optional_vars is not None)
    elif isinstance(node, ast.NamedExpr):
        yield node.target, node.value


def assigned_in(node: ast.AST) -> tuple[tuple[ast.expr, ast.expr | None], ...]:
    """The assignments of all statements and expressions in a part of the code, outer before inner."""
    return kept(node, _assignments)


def _assignments(node: ast.AST) -> tuple[tuple[ast.expr, ast.expr | None], ...]:
    return tuple(pair for each in assigning(node) for pair in assignments(each))


def assigning(node: ast.AST) -> tuple[ast.AST, ...]:
    """The statements and expressions in a part of the code that assign, outer before inner."""
    return kept(node, _assigning)


def _assigning(node: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(each for each in nodes(node) if each.__class__ in ASSIGNING)


def argument(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """An argument by keyword or position; None where it is not written or hidden in stars."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or any(isinstance(item, ast.Starred) for item in call.args[: position + 1]):
        return None
    return call.args[position] if position < len(call.args) else None


def last_name(call: ast.Call) -> str:
    """``F.relu(x)`` -> "relu"."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def has_stars(call: ast.Call) -> bool:
    return any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords)


def loads(node: ast.AST, name: str) -> Iterator[ast.Name]:
    """Where a local name is read."""
    for item in nodes(node):
        if isinstance(item, ast.Name) and item.id == name and isinstance(item.ctx, ast.Load):
            yield item


def are_exclusive(parents: dict[ast.AST, ast.AST], first: ast.AST, second: ast.AST) -> bool:
    """The nodes stand in different branches of one condition: never both are evaluated in one pass."""
    branches: dict[ast.AST, ast.AST] = {}
    node = first
    while parents[node] is not node:
        branches[parents[node]] = node
        node = parents[node]
    node = second
    while parents[node] is not node and parents[node] not in branches:
        node = parents[node]
    above = parents[node]
    if not isinstance(above, ast.If | ast.IfExp) or above not in branches:
        return False
    other = branches[above]
    sides = (above.body, above.orelse) if isinstance(above, ast.If) else ([above.body], [above.orelse])
    return any(node in one and other in two for one, two in (sides, sides[::-1]))
