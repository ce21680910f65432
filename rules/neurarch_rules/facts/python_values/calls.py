"""What a call gives: layers and tensors of torch, constructions, and changes to containers."""

from __future__ import annotations

import ast

from neurarch_rules.facts.data import facts
from neurarch_rules.facts.python_file import ClassFacts, Site, has_stars
from neurarch_rules.facts.python_values.arguments import Arguments
from neurarch_rules.facts.python_values.constructions import Constructions
from neurarch_rules.facts.python_values.events import Made
from neurarch_rules.facts.python_values.state import Scope
from neurarch_rules.facts.python_values.values import (
    NOTHING,
    Instance,
    Layer,
    Namespace,
    Parsed,
    Tensor,
    Value,
    wrapped,
)
from neurarch_schemas.documents.python_nodes import MUTATING, nodes

NAMESPACES = frozenset(
    ("types.SimpleNamespace", "argparse.Namespace", "easydict.EasyDict", "addict.Dict", "ml_collections.ConfigDict")
)
FACTORIES = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn", "full"))
READING = frozenset(("len", "range", "zip", "enumerate", "reversed", "print", "tuple", "list", "sum", "max", "min"))
"""Functions that leave a list as it is."""


class Calls(Constructions):
    def _call(self, node: ast.Call, scope: Scope) -> Value:
        if _is_super_init(node):
            self._super(node, scope)
            return NOTHING
        layer = self.file.layer(node)
        given = self._given(node, scope)
        if layer is not None:
            return self._layer(layer, node, given, scope)
        builtin = self._builtin(node, given) or self._tensor(node, given, scope)
        if builtin is not None:
            return builtin
        if isinstance(node.func, ast.Attribute):
            if node.func.attr == "parse_args":
                return Value(Parsed())
            if node.func.attr in MUTATING:
                self._mutate(node.func, given, scope)
                return NOTHING
        called = self._value(node.func, scope)
        self._may_change(node, scope)
        self._own_method(node, scope, given)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and given.is_whole:
            made = self._class_method(node.func.value, node.func.attr, given, scope)
            if made is not None:
                return made
        if isinstance(called.of, ClassFacts) and given.is_whole:
            return self._construct(called.of, given, scope, node)
        if isinstance(node.func, ast.Name) and node.func.id not in scope.names and given.is_whole:
            function = self.file.functions.get(node.func.id)
            if function is not None:
                return self._function_call(function[0], function[1], given, scope)
        return NOTHING

    def _builtin(self, node: ast.Call, given: Arguments) -> Value | None:
        positional = given.positional
        if self.file.qualified(node.func) in NAMESPACES and given.is_whole:
            first = positional[0].of if len(positional) == 1 else {}
            if not isinstance(first, dict):
                return NOTHING
            return Value(
                Namespace({**{str(key): wrapped(each, NOTHING) for key, each in first.items()}, **given.named})
            )
        if not isinstance(node.func, ast.Name):
            return None
        name = node.func.id
        if name == "range" and positional and all(item.integer is not None for item in positional):
            numbers = [item.of for item in positional]
            return Value(range(*numbers)) if len(numbers) <= 3 and 0 not in numbers[2:] else NOTHING
        if name == "int" and len(positional) == 1 and positional[0].number is not None:
            return Value(int(positional[0].of), positional[0].origin)
        if name in ("min", "max") and len(positional) > 1 and all(item.number is not None for item in positional):
            best = (min if name == "min" else max)(item.of for item in positional)
            return Value(best, next(item.origin for item in positional if item.of == best))
        if name == "divmod" and len(positional) == 2 and all(item.integer is not None for item in positional):
            top, bottom = positional
            return Value((top.of // bottom.of, top.of % bottom.of), top.origin) if bottom.of else NOTHING
        if name == "OrderedDict" and len(positional) == 1:
            return positional[0]
        if name == "dict" and not positional and given.is_whole:
            return Value(dict(given.named))
        return None

    def _tensor(self, node: ast.Call, given: Arguments, scope: Scope) -> Value | None:
        """``torch.zeros(1, n, d)``, a parameter or a triangle of it, and what keeps its shape."""
        name = self.file.qualified(node.func) or ""
        first = given.positional[0].of if given.positional else None
        if name in FACTORIES and given.is_whole:
            shape = first if isinstance(first, tuple) else given.positional
            return Value(Tensor(tuple(wrapped(each, NOTHING) for each in shape), Site(scope.placed, node)))
        if isinstance(first, Tensor) and name in ("torch.nn.Parameter", "torch.tril", "torch.triu"):
            return Value(
                Tensor(first.shape, Site(scope.placed, node), first.is_triangle or name != "torch.nn.Parameter")
            )
        if not isinstance(node.func, ast.Attribute) or name:
            return None
        method, this = node.func.attr, scope.names.get(scope.this)
        if method == "register_buffer" and this is not None and isinstance(this.of, Instance):
            if len(given.positional) > 1 and isinstance(given.positional[0].of, str):
                this.of.attributes[given.positional[0].of] = given.positional[1]
            return NOTHING
        if method not in ("bool", "float", "to", "view", "tril", "triu", "half", "unsqueeze", "reshape"):
            return None
        owner = self._value(node.func.value, scope).of
        if not isinstance(owner, Tensor):
            return None
        shape = owner.shape
        if method in ("view", "reshape"):
            shape = given.positional
        elif method == "unsqueeze":
            shape = (Value(1), *shape) if given.positional[:1] and given.positional[0].integer == 0 else ()
        return Value(Tensor(shape, owner.site, owner.is_triangle or method in ("tril", "triu"))) if shape else NOTHING

    def _mutate(self, method: ast.Attribute, given: Arguments, scope: Scope) -> None:
        """``layers.append(...)``: followed for a local list, else the container is unknown from here on."""
        owner = method.value
        if isinstance(owner, ast.Name):
            before = scope.names.get(owner.id, NOTHING).of
            added: tuple[Value, ...] | None = None
            if isinstance(before, tuple) and len(given.positional) == 1 and given.is_whole and scope.certain:
                if method.attr == "append":
                    added = given.positional
                elif method.attr == "extend" and isinstance(given.positional[0].of, tuple):
                    added = tuple(wrapped(each, NOTHING) for each in given.positional[0].of)
            scope.names[owner.id] = NOTHING if added is None else Value((*before, *added))
        elif isinstance(owner, ast.Attribute):
            holder = self._value(owner.value, scope)
            if isinstance(holder.of, Instance):
                holder.of.attributes[owner.attr] = NOTHING

    def _may_change(self, node: ast.Call, scope: Scope) -> None:
        """A list or dict that is handed to a function may come back changed."""
        if isinstance(node.func, ast.Name) and (node.func.id in READING or node.func.id in self.file.classes):
            return
        for item in node.args:
            if isinstance(item, ast.Name) and isinstance(scope.names.get(item.id, NOTHING).of, tuple):
                scope.names[item.id] = NOTHING

    def _layer(self, name: str, node: ast.Call, given: Arguments, scope: Scope) -> Value:
        table = facts("torch_layers")
        order = table["parametric"].get(name) or table["plain"].get(name) or []
        arguments: dict[str, Value] = {}
        if given.is_whole or not has_stars(node):
            arguments = dict(zip(order, given.positional, strict=False))
        arguments |= given.named
        layer = Layer(name, arguments, Site(scope.placed, node), _children(given))
        if scope.certain and self.construction is not None:
            self.found.made.append(Made(layer, self.construction))
        elif (
            self.construction is not None
            and arguments
            and all(
                isinstance(value.origin and value.origin.node, ast.Constant) and _inside(value.origin, node)
                for value in arguments.values()
            )
        ):
            # whatever leads here, the numbers stand in the call itself
            self.found.made.append(Made(layer, self.construction))
        return Value(layer, Site(scope.placed, node))


def _children(given: Arguments) -> tuple[Value, ...]:
    """Of a Sequential, in order; an OrderedDict or a list of pairs gives its values."""
    if len(given.positional) != 1:
        return given.positional
    only = given.positional[0].of
    if isinstance(only, dict):
        return tuple(wrapped(each, NOTHING) for each in only.values())
    if isinstance(only, tuple):
        pairs = [wrapped(each, NOTHING).of for each in only]
        if all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            return tuple(wrapped(pair[1], NOTHING) for pair in pairs)
    return given.positional


def _inside(site: Site | None, node: ast.AST) -> bool:
    return site is not None and any(each is site.node for each in nodes(node))


def _is_super_init(node: ast.Call) -> bool:
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    )
