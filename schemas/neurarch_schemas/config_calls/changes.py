"""What becomes of a config between its construction and its use: ``config.num_hidden_layers = 3``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neurarch_schemas.config_calls.writes import Owners, Write, aliases, dotted, last_name, located, writes
from neurarch_schemas.documents.python_nodes import nodes
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HARMLESS = frozenset(
    (
        *("print", "pprint", "repr", "str", "type", "isinstance", "hasattr", "getattr", "len", "id"),
        *("setattr", "delattr", "debug", "info", "warning"),
    )
)
"""Functions that neither keep a config nor change more of it than their arguments say."""
DEPTH = 3


class Change(Record):
    """``target`` is set to ``value``; to something unknown where that is None (under a condition, in a function).

    ``pointer`` is "" where any key may be set.
    """

    pointer: str
    placed: Placed
    target: ast.expr
    value: ast.expr | None


class Fate(Record):
    """The changes up to the first statement that uses the config, and where that is (None: nowhere in sight)."""

    changes: tuple[Change, ...]
    use: tuple[Placed, ast.AST] | None


class Mentions:
    """The statements, functions and calls of a file, by the names they mention."""

    def __init__(self, units: Sequence[Placed]) -> None:
        self.units = units

    def following(self, statement: ast.stmt, placed: Placed, owners: Owners) -> Iterator[tuple[Placed, ast.stmt]]:
        """The statements that run behind ``statement`` and mention a name of the config: those of its block, then those
        behind the block it stands in, up to the end of the function or file. ``owners`` may grow meanwhile."""
        parents = placed.unit.parents
        node: ast.AST = statement
        while (holder := parents[node]) is not node:
            first: frozenset[str] = frozenset()
            mentioning: frozenset[ast.AST] = frozenset()
            for item in _behind(holder, node):
                if first != _first(owners):
                    first = _first(owners)
                    mentioning = _parts_with(first, placed, holder)
                if item in mentioning:
                    yield placed, item
            if isinstance(holder, DEFINITIONS):
                return
            node = holder
        for where in self.units:
            if where.start > placed.start and not where.unit.words.isdisjoint(_first(owners)):
                yield from ((where, item) for item in where.unit.body)

    def functions(self, name: str) -> Iterator[tuple[Placed, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Functions and methods of this name."""
        for placed in self.units:
            if f"def {name}" in placed.unit.text:
                for node in placed.unit.parents:
                    if isinstance(node, FUNCTIONS) and node.name == name:
                        yield placed, node

    def calls(self, name: str) -> Iterator[tuple[Placed, ast.Call]]:
        for placed in self.units:
            for call in placed.unit.calls.get(name, ()) if name in placed.unit.text else ():
                yield placed, call


def _first(owners: Owners) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in owners)


def _parts_with(names: frozenset[str], placed: Placed, holder: ast.AST) -> frozenset[ast.AST]:
    """The parts right below a node in which one of the names stands."""
    parents = placed.unit.parents
    found: set[ast.AST] = set()
    for name in names:
        for node in placed.unit.named.get(name, ()):
            part: ast.AST = node
            while (above := parents[part]) is not part and above is not holder:
                part = above
            found.add(part)
    return frozenset(found)


def _behind(holder: ast.AST, node: ast.AST) -> Iterator[ast.stmt]:
    """What runs behind a statement within the one it stands in."""
    for field in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(holder, field, None)
        if isinstance(block, list) and node in block:
            if field != "handlers":
                yield from block[block.index(node) + 1 :]
            if isinstance(holder, ast.Try):
                yield from holder.orelse if field == "body" else ()
                yield from holder.finalbody if field != "finalbody" else ()
            return


def _rebound(statement: ast.stmt, owners: Owners) -> ast.expr | None:
    """The other value that a statement gives to a name of the config."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    is_other = any(dotted(target) in owners for target in targets) and located(statement.value, owners) is None
    return statement.value if is_other else None


def fate(call: ast.Call, placed: Placed, mentions: Mentions) -> Fate:
    """What happens to the config that ``call`` constructs."""
    follower = _Follower(mentions)
    follower.follow(call, placed, 0)
    return Fate(tuple(follower.changes), follower.use)


class _Follower:
    def __init__(self, mentions: Mentions) -> None:
        self.mentions = mentions
        self.changes: list[Change] = []
        self.use: tuple[Placed, ast.AST] | None = None

    def follow(self, call: ast.Call, placed: Placed, depth: int) -> None:
        """From where the config is made, or handed back by a function (then ``depth`` is over 0)."""
        node, owners = self._named(call, placed)
        parents = placed.unit.parents
        statement: ast.AST = node
        while not isinstance(statement, ast.stmt):
            statement = parents[statement]
        if isinstance(statement, ast.Return) and parents[node] is statement:
            self._returned(statement, placed, depth)
            return
        if not owners:
            self.use = self.use or (placed, node)
            return
        for name in [name for name in owners if "." in name]:
            self._elsewhere(name, statement, placed)
        if isinstance(parents[node], ast.NamedExpr):
            self._unknown(statement, placed, owners, stop=call)
        for where, following in self.mentions.following(statement, placed, owners):
            if isinstance(following, ast.Return) and following.value and located(following.value, owners) == ():
                self._returned(following, placed, depth)
                return
            if self._statement(following, where, owners, certain=depth == 0):
                self.use = self.use or (where, following)
                return

    def _named(self, call: ast.Call, placed: Placed) -> tuple[ast.expr, dict[str, tuple[str, ...]]]:
        """The call, or what copies or patches its value at once, and the names that are given to it."""
        parents = placed.unit.parents
        node: ast.expr = call
        while isinstance(above := parents[node], ast.Call) and node in above.args:
            if located(above, {"": ()}) is None and last_name(above.func) not in ("deepcopy", "copy"):
                stored = self._stored_by(above, above.args.index(node), None, 0)
                if not stored:
                    break
                self.changes += (Change(pointer, placed, above, None) for pointer in stored)
            node = above
        if isinstance(above, ast.Assign) and above.value is node:
            return node, {name: () for target in above.targets if (name := dotted(target)) is not None}
        if isinstance(above, ast.AnnAssign | ast.NamedExpr) and above.value is node:
            name = dotted(above.target)
            return node, {} if name is None else {name: ()}
        return node, {}

    def _statement(
        self, statement: ast.stmt, placed: Placed, owners: dict[str, tuple[str, ...]], certain: bool
    ) -> bool:
        """Takes in what a statement does to the config; true where it uses it for good."""
        if isinstance(statement, DEFINITIONS):
            self._unknown(statement, placed, owners)
            return False
        if isinstance(statement, ast.Assign):
            found = list(writes(statement, owners))
            if found and certain:
                self._add(found, placed)
                self._unknown(statement.value, placed, owners)
                return False
        self._unknown(statement, placed, owners)
        owners.update(aliases(statement, owners))
        rebound = _rebound(statement, owners)
        if rebound is not None:
            return not self._is_patched(rebound, placed, owners)
        return any(self._uses(node, placed, owners) for node in nodes(statement))

    def _is_patched(self, value: ast.expr, placed: Placed, owners: Owners) -> bool:
        """``config = patch(config)``, by a function of this file or one that may do anything."""
        if not isinstance(value, ast.Call) or all(located(item, owners) != () for item in value.args):
            return False
        name = last_name(value.func)
        if not any(True for _ in self.mentions.functions(name)):
            if name[:1].isupper():
                return False
            self.changes.append(Change("", placed, value, None))
        return True

    def _unknown(
        self, part: ast.AST, placed: Placed, owners: dict[str, tuple[str, ...]], stop: ast.AST | None = None
    ) -> None:
        """Whatever is set in a part that may or may not run, or to a value not followed."""
        for node in nodes(part):
            if node is stop:
                continue
            if node is not part:
                owners.update(aliases(node, owners))
            self._add([Write(each.pointer, each.target, None) for each in writes(node, owners)], placed)
            if isinstance(node, ast.Call):
                self._add([Write(pointer, node, None) for pointer in self._handed(node, placed, owners)], placed)

    def _add(self, found: Sequence[Write], placed: Placed) -> None:
        self.changes += (Change(each.pointer, placed, each.target, each.value) for each in found)

    def _handed(self, call: ast.Call, placed: Placed, owners: Owners) -> list[str]:
        """The keys that a function may set of the config it is handed."""
        found: list[str] = []
        for position, item in enumerate(call.args):
            if located(item, owners) == ():
                found += self._stored_by(call, position, placed, 0)
        for keyword in call.keywords:
            if keyword.arg is not None and located(keyword.value, owners) == ():
                found += self._stored_by(call, keyword.arg, placed, 0)
        return found

    def _stored_by(self, call: ast.Call, argument: int | str, placed: Placed | None, depth: int) -> list[str]:
        """Pointers of the keys that the called function sets of an argument; "" for any, where it is not of this file
        and called for what it does."""
        name = last_name(call.func)
        if depth > DEPTH or name in HARMLESS or not name:
            return []
        own = list(self.mentions.functions(name))
        if not own:
            parent = None if placed is None else placed.unit.parents[call]
            is_class = name.lstrip("_")[:1].isupper() or (
                isinstance(call.func, ast.Attribute) and name == "from_config"
            )
            return [""] if isinstance(parent, ast.Expr) and not is_class else []
        found: list[str] = []
        for where, function in own:
            names = [item.arg for item in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
            if isinstance(argument, int):
                skipped = 1 if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute) else 0
                names = names[argument + skipped :][:1]
            elif argument not in names:
                names = []
            else:
                names = [argument]
            for parameter in names:
                found += self._stored_in(function, parameter, where, depth)
        return found

    def _stored_in(self, function: ast.AST, parameter: str, placed: Placed, depth: int) -> list[str]:
        owners: dict[str, tuple[str, ...]] = {parameter: ()}
        found: list[str] = []
        for node in nodes(function):
            owners.update(aliases(node, owners))
            found += (each.pointer for each in writes(node, owners))
            if isinstance(node, ast.Call):
                for position, item in enumerate(node.args):
                    if located(item, owners) == ():
                        found += self._stored_by(node, position, placed, depth + 1)
        return found

    def _uses(self, node: ast.AST, placed: Placed, owners: Owners) -> bool:
        """The node hands the config on as a whole: to a call, a container, another object."""
        if not isinstance(node, ast.Name | ast.Attribute) or located(node, owners) != ():
            return False
        above = placed.unit.parents[node]
        if isinstance(above, ast.keyword):
            above = placed.unit.parents[above]
        if isinstance(above, ast.Attribute):
            called = placed.unit.parents[above]
            is_method = isinstance(called, ast.Call) and called.func is above
            return is_method and located(called, owners) is None and not any(writes(called, owners))
        if isinstance(above, ast.Call):
            name = last_name(above.func)
            if name in HARMLESS or located(above, owners) is not None or any(writes(above, owners)):
                return False
            return not (isinstance(placed.unit.parents[above], ast.Expr) and self._handed(above, placed, owners))
        return not isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Compare | ast.Expr)

    def _returned(self, statement: ast.Return, placed: Placed, depth: int) -> None:
        """The function hands the config back: what its callers in this file set of it is unknown."""
        function: ast.AST = statement
        while not isinstance(function, FUNCTIONS):
            if placed.unit.parents[function] is function:
                return
            function = placed.unit.parents[function]
        if depth >= DEPTH:
            return
        for where, call in self.mentions.calls(function.name):
            self.follow(call, where, depth + 1)

    def _elsewhere(self, name: str, statement: ast.AST, placed: Placed) -> None:
        """``self.config`` may be changed by any other method."""
        for unit in placed.unit.body:
            for node in nodes(unit):
                if isinstance(node, FUNCTIONS) and statement not in nodes(node):
                    self._unknown(node, placed, {name: ()})
