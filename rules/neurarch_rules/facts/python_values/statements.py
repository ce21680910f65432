"""Statements: what they assign, where they end, and what is unknown after them."""

from __future__ import annotations

import ast

from neurarch_rules.facts.python_file import FUNCTIONS, Site
from neurarch_rules.facts.python_values.calls import Calls
from neurarch_rules.facts.python_values.events import Refused, Tied
from neurarch_rules.facts.python_values.state import Doubt, Return, Scope, Stop
from neurarch_rules.facts.python_values.values import NOTHING, PLAIN, Instance, Layer, Value, Weight, wrapped
from neurarch_schemas.documents.python_nodes import nodes, stored


class Statements(Calls):
    def _block(self, body: list[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        self._tick()
        if isinstance(node, ast.Assign):
            value = self._value(node.value, scope)
            for target in node.targets:
                self._assign(target, value, scope, node)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._assign(node.target, self._value(node.value, scope), scope, node)
        elif isinstance(node, ast.AugAssign):
            self._augment(node, scope)
        elif isinstance(node, ast.Expr):
            self._value(node.value, scope)
        elif isinstance(node, ast.If):
            self._if(node, scope)
        elif isinstance(node, ast.Assert):
            self._assert(node, scope)
        elif isinstance(node, ast.For):
            self._for(node, scope)
        elif isinstance(node, ast.With):
            if all(self._lets_through(item.context_expr) for item in node.items):
                for item in node.items:
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, NOTHING, scope, node)
                self._block(node.body, scope)
            else:
                self._doubtful(node.body, scope)
        elif isinstance(node, ast.Return):
            value = NOTHING if node.value is None else self._value(node.value, scope)
            if scope.certain:
                raise Return(value)
            raise Doubt
        elif isinstance(node, ast.Raise):
            if scope.certain:
                raise Stop
        elif isinstance(node, ast.While | ast.Try):
            self._doubtful([node], scope, enter=False)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            scope.names[node.name] = NOTHING
        elif isinstance(node, ast.Delete | ast.Import | ast.ImportFrom | ast.Match):
            self._forget([node], scope)

    def _lets_through(self, context: ast.expr) -> bool:
        """A context of torch, or one whose name says that it swallows no error."""
        name = self.file.qualified(context.func if isinstance(context, ast.Call) else context) or ""
        return name.startswith("torch.") or name.rpartition(".")[2] in ("init_empty_weights", "no_init_weights")

    def _augment(self, node: ast.AugAssign, scope: Scope) -> None:
        added = self._value(node.value, scope).of
        before = scope.names.get(node.target.id, NOTHING).of if isinstance(node.target, ast.Name) else None
        value = NOTHING
        if isinstance(node.op, ast.Add) and scope.certain and isinstance(before, tuple) and isinstance(added, tuple):
            value = Value((*before, *added))
        self._assign(node.target, value, scope, node)

    def _if(self, node: ast.If, scope: Scope) -> None:
        test = self._value(node.test, scope)
        if not test.known:
            branches = [node.body, node.orelse]
            before = dict(scope.names)
            for branch in branches:
                inner = Scope(scope.placed, dict(before), scope.owner, scope.this, certain=False)
                self._quietly(branch, inner)
            self._forget([node], scope)
            return
        chosen = node.body if test.of else node.orelse
        if chosen and isinstance(chosen[0], ast.Raise) and scope.certain:
            self._refuse(node, node.test, scope)
        self._block(chosen, scope)

    def _quietly(self, body: list[ast.stmt], scope: Scope) -> None:
        """A body that may or may not run: what ends it ends nothing else."""
        try:
            self._block(body, scope)
        except (Stop, Return):
            return

    def _doubtful(self, body: list[ast.stmt], scope: Scope, enter: bool = True) -> None:
        if enter:
            inner = Scope(scope.placed, dict(scope.names), scope.owner, scope.this, certain=False)
            self._quietly(body, inner)
        self._forget(body, scope)

    def _forget(self, body: list[ast.stmt], scope: Scope) -> None:
        """Names and attributes a part stores are unknown after it."""
        for statement in body:
            for name in stored(statement):
                scope.names[name] = NOTHING
            this = scope.names.get(scope.this)
            if this is not None and isinstance(this.of, Instance):
                for each in nodes(statement):
                    if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                        this.of.attributes[each.attr] = NOTHING

    def _for(self, node: ast.For, scope: Scope) -> None:
        items = self._value(node.iter, scope)
        runs = isinstance(items.of, range | tuple | list) and len(items.of) > 0
        self._forget([node], scope)
        has_end = any(isinstance(each, ast.Break | ast.Continue | ast.Return) for each in nodes(node))
        inner = Scope(scope.placed, scope.names, scope.owner, scope.this, scope.certain and runs and not has_end)
        times = self.times
        self.times *= len(items.of) if runs and not has_end else 1
        try:
            self._quietly(node.body, inner)
        finally:
            self.times = times
        self._forget([node], scope)

    def _assert(self, node: ast.Assert, scope: Scope) -> None:
        test = self._value(node.test, scope)
        if test.known and not test.of and scope.certain:
            self._refuse(node, node.test, scope)
            raise Stop

    def _refuse(self, node: ast.stmt, test: ast.expr, scope: Scope) -> None:
        if self.construction is None:
            return
        values: list[tuple[str, Value]] = []
        for each in nodes(test):
            if isinstance(each, ast.Name | ast.Attribute):
                value = self._value(each, scope)
                if value.known and isinstance(value.of, PLAIN):
                    values.append((ast.unparse(each), value))
        site = Site(scope.placed, node)
        self.found.refused.append(Refused(site, test, tuple(values), self.construction, self.explicit))

    def _assign(self, target: ast.expr, value: Value, scope: Scope, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.of if isinstance(value.of, tuple | list) and len(value.of) == len(target.elts) else None
            for index, inner in enumerate(target.elts):
                self._assign(inner, NOTHING if parts is None else wrapped(parts[index], value), scope, node)
        elif isinstance(target, ast.Attribute):
            owner = self._value(target.value, scope)
            if isinstance(owner.of, Instance):
                owner.of.attributes[target.attr] = value
            if isinstance(owner.of, Layer) and target.attr == "weight" and scope.certain:
                self._tie(owner.of, value, Site(scope.placed, node))
        elif isinstance(target, ast.Subscript):
            self._value(target.value, scope)
            if isinstance(target.value, ast.Name):
                scope.names[target.value.id] = NOTHING

    def _tie(self, target: Layer, value: Value, site: Site) -> None:
        if isinstance(value.of, Weight) and self.construction is not None:
            self.found.tied.append(Tied(site, target, value.of.layer, self.construction))
