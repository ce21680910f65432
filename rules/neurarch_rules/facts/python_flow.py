"""Where the output of a softmax, sigmoid or linear layer goes, followed through names, modules of the file and
Sequential."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from neurarch_rules.facts.python_file import (
    FUNCTIONS,
    ClassFacts,
    FunctionNode,
    PythonFile,
    Site,
    argument,
    assigning,
    assignments,
    last_name,
    loads,
    self_attribute,
    unmoved,
)
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed

LOSSES = {
    "torch.nn.functional.cross_entropy": "cross entropy",
    "torch.nn.functional.binary_cross_entropy_with_logits": "binary cross entropy with logits",
    "torch.nn.functional.nll_loss": "negative log-likelihood",
    "torch.nn.functional.kl_div": "Kullback-Leibler divergence",
    "torch.nn.functional.binary_cross_entropy": "binary cross entropy",
    "torch.nn.functional.log_softmax": "log-softmax",
    "torch.log_softmax": "log-softmax",
}
LAST_NAMES = frozenset(name.rpartition(".")[2] for name in LOSSES)
LOSS_CLASSES = {
    "torch.nn.CrossEntropyLoss": "cross entropy",
    "torch.nn.BCEWithLogitsLoss": "binary cross entropy with logits",
    "torch.nn.NLLLoss": "negative log-likelihood",
    "torch.nn.KLDivLoss": "Kullback-Leibler divergence",
    "torch.nn.BCELoss": "binary cross entropy",
}
SQUASHING = {
    "torch.softmax": "softmax",
    "torch.nn.functional.softmax": "softmax",
    "torch.sigmoid": "sigmoid",
    "torch.nn.functional.sigmoid": "sigmoid",
    "torch.special.expit": "sigmoid",
}
LAYERS = {
    "torch.nn.Softmax": "softmax",
    "torch.nn.Softmax2d": "softmax",
    "torch.nn.Sigmoid": "sigmoid",
    "torch.nn.Linear": "linear",
    "torch.nn.Conv1d": "linear",
    "torch.nn.Conv2d": "linear",
}
"""Layers whose output tells what a value is: probabilities, or scores without bounds."""
SHAPING = frozenset(
    ("view", "reshape", "squeeze", "unsqueeze", "flatten", "transpose", "permute", "contiguous", "float", "to", "cuda")
)
"""Methods that leave the values as they are."""
DEPTH = 6


@dataclass(frozen=True)
class Scope:
    """The statements a value is followed in; ``owner`` where they are a method."""

    placed: Placed
    body: tuple[ast.stmt, ...]
    owner: ClassFacts | None = None
    function: FunctionNode | None = None

    @property
    def parameters(self) -> list[str]:
        return [] if self.function is None else [item.arg for item in self.function.args.args]


@dataclass(frozen=True)
class Assigned:
    """``straight`` when the assignment is a statement of the scope itself, inside no condition or loop."""

    line: int
    value: ast.expr | None
    straight: bool


@lru_cache(maxsize=1024)
def assigned(body: tuple[ast.stmt, ...]) -> dict[str, list[Assigned]]:
    """Every assignment to a local name in some statements, by name."""
    found: dict[str, list[Assigned]] = {}
    for statement in body:
        straight = isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in assigning(statement):
            for target, value in assignments(node):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(Assigned(getattr(node, "lineno", 0), value, straight))
    return found


@dataclass(frozen=True)
class Loss:
    site: Site
    kind: str
    shown: str
    input: ast.expr
    scope: Scope


@dataclass(frozen=True)
class Source:
    """``made`` is where the layer is made whose call ``site`` is, if it is one."""

    site: Site
    kind: str
    made: Site | None = None


def losses(file: PythonFile) -> Iterator[Loss]:
    """Calls of losses (and of log_softmax, the half of one) that say what their input is, with that input."""
    named = LAST_NAMES | _held(file)
    for scope in scopes(file):
        for node in calls_in(scope.body):
            if not isinstance(node.func, ast.Call) and last_name(node) not in named:
                continue
            kind = LOSSES.get(file.qualified(node.func) or "") or _loss_of(file, scope, node.func)
            given = argument(node, "input", 0)
            if kind is not None and given is not None:
                yield Loss(Site(scope.placed, node), kind, ast.unparse(node.func), given, scope)


def _held(file: PythonFile) -> frozenset[str]:
    """The names and attributes that hold a loss somewhere in the file."""
    found: set[str] = set()
    for placed, call in file.calls(*(name.rpartition(".")[2] for name in LOSS_CLASSES)):
        node: ast.AST = call
        while isinstance(node, ast.expr):
            node = placed.unit.parents[node]
        for target, _ in assignments(node):
            found.add(getattr(target, "attr", getattr(target, "id", "")))
    return frozenset(found)


def scopes(file: PythonFile) -> Iterator[Scope]:
    """Each function and method, and what runs with the file."""
    for placed in file.units:
        for node in placed.unit.body:
            if isinstance(node, FUNCTIONS):
                yield Scope(placed, tuple(node.body), function=node)
    for found in file.classes.values():
        for method in found.methods.values():
            yield Scope(found.placed, tuple(method.body), found, method)
    for placed, statement in file.main_statements:
        if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            yield Scope(placed, (statement,))


def walk(body: tuple[ast.stmt, ...]) -> Iterator[ast.AST]:
    for statement in body:
        yield from nodes(statement)


def calls_in(body: tuple[ast.stmt, ...]) -> Iterator[ast.Call]:
    for statement in body:
        yield from nodes_of(statement, ast.Call)


def _loss_of(file: PythonFile, scope: Scope, called: ast.expr) -> str | None:
    """``criterion(...)``, ``self.loss(...)``, ``nn.CrossEntropyLoss()(...)``."""
    values: list[ast.expr | None] = []
    if isinstance(called, ast.Call):
        values = [called]
    elif isinstance(called, ast.Name):
        values = values_of(file, scope, called.id)
    else:
        attribute = self_attribute(called)
        if attribute is not None and scope.owner is not None:
            values = scope.owner.assigned.get(attribute, [])
    made = [None if value is None else unmoved(value) for value in values]
    kinds = {
        LOSS_CLASSES.get(file.qualified(value.func) or "") if isinstance(value, ast.Call) else None for value in made
    }
    return kinds.pop() if len(kinds) == 1 else None


def values_of(file: PythonFile, scope: Scope, name: str) -> list[ast.expr | None]:
    """What a name is assigned in the scope, else at module level."""
    found = [item.value for item in assigned(scope.body).get(name, ())]
    if found or name in scope.parameters:
        return found
    body = tuple(
        statement for _, statement in file.main_statements if not isinstance(statement, (*FUNCTIONS, ast.ClassDef))
    )
    return [item.value for item in assigned(body).get(name, ())]


def scope_of(file: PythonFile, placed: Placed, node: ast.AST) -> Scope:
    """The function or method that a node stands in, else the module level."""
    parents = placed.unit.parents
    while parents[node] is not node and not isinstance(node, FUNCTIONS):
        node = parents[node]
    if not isinstance(node, FUNCTIONS):
        return Scope(placed, ())
    above = parents[node]
    owner = file.classes.get(above.name) if isinstance(above, ast.ClassDef) else None
    return Scope(placed, tuple(node.body), owner, node)


def made_by(file: PythonFile, placed: Placed, node: ast.expr | None) -> ast.expr | None:
    """An expression, or what a name is bound to by the only statement that binds it."""
    if not isinstance(node, ast.Name):
        return node
    values = values_of(file, scope_of(file, placed, node), node.id)
    return values[0] if len(values) == 1 else None


class Flow:
    def __init__(self, file: PythonFile) -> None:
        self.file = file

    def sources(self, loss: Loss) -> list[Source]:
        """The calls or layers whose output surely is the loss's input, whatever the way."""
        return self._of(loss.input, loss.scope, loss.site.node, 0)

    def _of(self, node: ast.expr, scope: Scope, before: ast.AST, depth: int) -> list[Source]:
        if depth > DEPTH:
            return []
        if isinstance(node, ast.Name):
            value = self.last(node.id, scope, before)
            return [] if value is None else self._of(value, scope, value, depth + 1)
        if not isinstance(node, ast.Call):
            return []
        kind = SQUASHING.get(self.file.qualified(node.func) or "")
        if kind is None and isinstance(node.func, ast.Attribute) and self.file.qualified(node.func) is None:
            if node.func.attr in ("softmax", "sigmoid") and self_attribute(node.func) is None:
                kind = node.func.attr
            elif node.func.attr in SHAPING:
                return self._of(node.func.value, scope, before, depth + 1)
        if kind is not None:
            return [Source(Site(scope.placed, node), kind)]
        return self._module_output(node, scope, depth)

    def _module_output(self, node: ast.Call, scope: Scope, depth: int) -> list[Source]:
        """What a called module returns: a class of the file, a Sequential, a layer."""
        is_self = isinstance(node.func, ast.Name) and node.func.id == "self"
        if (is_self or self_attribute(node.func) == "forward") and scope.owner is not None:
            forward = scope.owner.method("forward")
            return [] if forward is None else self._returned(forward[0], forward[1], depth)
        maker: ast.AST | None = None
        placed = scope.placed
        if isinstance(node.func, ast.Name):
            values = values_of(self.file, scope, node.func.id) or self._handed_in(node.func.id, scope)
            maker = values[0] if len(values) == 1 else None
            placed = self._placed_of(maker, scope)
        elif self_attribute(node.func) is not None and scope.owner is not None:
            values = scope.owner.assigned.get(self_attribute(node.func) or "", [])
            maker = values[0] if len(values) == 1 else None
        elif isinstance(node.func, ast.Call):
            maker = node.func
        maker = None if maker is None else unmoved(maker)
        if not isinstance(maker, ast.Call):
            return []
        layer = LAYERS.get(self.file.qualified(maker.func) or "")
        if layer is not None:
            return [Source(Site(scope.placed, node), layer, Site(placed, maker))]
        if self.file.layer(maker) == "Sequential" and maker.args:
            last = self._last_layer(maker, placed)
            layer = LAYERS.get(self.file.qualified(last.func) or "") if isinstance(last, ast.Call) else None
            return [] if last is None or layer is None else [Source(Site(placed, last), layer)]
        own = self.file.own_class(maker)
        method = None if own is None else own.method("forward")
        return [] if method is None else self._returned(method[0], method[1], depth)

    def _last_layer(self, sequential: ast.Call, placed: Placed) -> ast.expr | None:
        """The last layer of ``Sequential(a, b)``, or of ``Sequential(*layers)`` of a list made in the same function."""
        last = sequential.args[-1]
        if not isinstance(last, ast.Starred):
            return last
        if not isinstance(last.value, ast.Name):
            return last.value.elts[-1] if isinstance(last.value, ast.List) and last.value.elts else None
        scope = scope_of(self.file, placed, sequential)
        given = assigned(scope.body).get(last.value.id, ())
        listed = given[0].value if len(given) == 1 else None
        if not isinstance(listed, ast.List) or scope.function is None:
            return None
        uses = [use for use in loads(scope.function, last.value.id) if use is not last.value]
        parents = placed.unit.parents
        for use in uses:
            call = parents[parents[use]]
            is_append = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "append" and call.args
            if not is_append or not isinstance(call, ast.Call):
                return None
        if not uses:
            return listed.elts[-1] if listed.elts else None
        latest = parents[parents[max(uses, key=lambda use: use.lineno)]]
        straight = isinstance(latest, ast.Call) and parents[parents[latest]] is scope.function
        return latest.args[0] if straight and isinstance(latest, ast.Call) else None

    def _handed_in(self, name: str, scope: Scope) -> list[ast.expr | None]:
        """The model that every call of this function in the file hands in, where it is one class."""
        if scope.owner is not None or scope.function is None or name not in scope.parameters:
            return []
        position = scope.parameters.index(name)
        given = [argument(call, name, position) for _, call in self.file.calls(scope.function.name)]
        main = [
            values_of(self.file, Scope(scope.placed, ()), item.id) if isinstance(item, ast.Name) else [item]
            for item in given
        ]
        makers = [values[0] if len(values) == 1 else None for values in main]
        classes = {id(self.file.own_class(maker)) if maker is not None else 0 for maker in makers}
        return makers[:1] if len(classes) == 1 and makers and self.file.own_class(makers[0] or ast.Pass()) else []

    def _placed_of(self, maker: ast.AST | None, scope: Scope) -> Placed:
        for placed in self.file.units:
            if maker in placed.unit.parents:
                return placed
        return scope.placed

    def _returned(self, owner: ClassFacts, method: FunctionNode, depth: int) -> list[Source]:
        returns = [item for item in nodes(method) if isinstance(item, ast.Return) and item.value is not None]
        if len(returns) != 1 or returns[0].value is None:
            return []
        scope = Scope(owner.placed, tuple(method.body), owner, method)
        return self._of(returns[0].value, scope, returns[0], depth + 1)

    def last(self, name: str, scope: Scope, before: ast.AST) -> ast.expr | None:
        """The value of a name where it surely is the last straight assignment before a use."""
        line = getattr(before, "lineno", 0)
        found = [item for item in assigned(scope.body).get(name, ()) if item.line < line]
        if len(scope.body) == 1 and not found:
            values = values_of(self.file, scope, name)
            return values[0] if len(values) == 1 else None
        if not found:
            return None
        last = max(found, key=lambda item: item.line)
        inside_one_block = len({item.straight for item in found}) == 1
        if last.straight or (inside_one_block and self._same_block(scope, before, last.line)):
            return last.value
        return None

    def _same_block(self, scope: Scope, before: ast.AST, line: int) -> bool:
        """The use and the assignment on ``line`` stand in the same list of statements."""
        parents = scope.placed.unit.parents
        node = before
        while node in parents and parents[node] is not node:
            above = parents[node]
            for part in ("body", "orelse", "finalbody"):
                block = getattr(above, part, None)
                if isinstance(block, list) and node in block:
                    return any(getattr(item, "lineno", 0) == line for item in block)
            node = above
        return False
