"""The axes of tensors in attention, by name: (batch, tokens, width) through views, transposes and products."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from neurarch_rules.facts.python_file import FUNCTIONS, ClassFacts, FunctionNode, Site, argument, self_attribute
from neurarch_schemas.documents.python_nodes import nodes_of, stored

KEEPING = frozenset(
    ("contiguous", "float", "half", "to", "type_as", "clone", "masked_fill", "softmax", "dropout", "div")
)
ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
PRODUCTS = ("torch.matmul", "torch.bmm")


@dataclass(frozen=True)
class Fault:
    """``kind``: "split" (tokens and heads mixed by a view), "merged" (the same on the way back), "over-heads"."""

    site: Site
    kind: str
    before: str
    after: str


Axes = tuple[str, ...]
TOKENS = "tokens"
"""The axis of tokens where the code gives it no name."""


def faults(found: ClassFacts, method: FunctionNode) -> Iterator[Fault]:
    """In a method that unpacks the shape of its input as (batch, tokens, width)."""
    walk = _Walk(found, method, _is_merged(method))
    for statement in method.body:
        walk.statement(statement)
    yield from walk.found


def _is_merged(method: FunctionNode) -> bool:
    """A view back to (batch, tokens, width): what came in had these three axes."""
    return any(
        getattr(call.func, "attr", "") in ("view", "reshape") and len(call.args) == 3 and _is_rest(call.args[1])
        for call in nodes_of(method, ast.Call)
        if not isinstance(call.args[0] if call.args else None, ast.BinOp)
    )


def _is_rest(node: ast.expr) -> bool:
    return ast.unparse(node) == "-1"


class _Walk:
    def __init__(self, owner: ClassFacts, method: FunctionNode, is_merged: bool) -> None:
        self.owner = owner
        self.is_merged = is_merged
        self.parameters = {item.arg for item in method.args.args[1:]}
        self.names: dict[str, Axes] = {}
        self.depth = 0
        self.found: list[Fault] = []

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            if not self._unpacked(node.targets[0], node.value):
                self._assign(node.targets[0], node.value)
        elif isinstance(node, ast.Return | ast.Expr) and node.value is not None:
            self.of(node.value)
        elif isinstance(node, ast.If):
            before, after = dict(self.names), []
            for branch in (node.body, node.orelse):
                self.names = dict(before)
                for inner in branch:
                    self.statement(inner)
                after.append(self.names)
            self.names = {name: axes for name, axes in after[0].items() if after[1].get(name) == axes}
        elif isinstance(node, ast.AugAssign):
            self.of(node.value)  # in place: the axes stay
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            for name in stored(node):
                self.names.pop(name, None)

    def _unpacked(self, target: ast.expr, value: ast.expr) -> bool:
        """``B, T, C = x.shape``"""
        owner = _shape_of(value)
        if owner is None or not isinstance(target, ast.Tuple) or owner not in self.parameters | self.names.keys():
            return False
        names = [item.id if isinstance(item, ast.Name) else "" for item in target.elts]
        if len(names) == 3 and "" not in names:
            self.names[owner] = tuple(names)
        return True

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            owner = _first_size_of(value)
            if owner in self.parameters and owner not in self.names and self.is_merged:
                self.names[owner] = (target.id, TOKENS, "?")
            axes = self.of(value)
            self.names.pop(target.id, None)
            if axes is not None:
                self.names[target.id] = axes
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
            shared = None if parts is not None else self._each(value)
            several = self._several(value, len(target.elts))
            for number, item in enumerate(target.elts):
                axes = self.of(parts[number]) if parts is not None else several[number] if several else shared
                if isinstance(item, ast.Name):
                    self.names.pop(item.id, None)
                    if axes is not None:
                        self.names[item.id] = axes

    def _several(self, value: ast.expr, count: int) -> list[Axes | None] | None:
        """What a call of a function of the file returns, in parts."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
            return None
        own = self.owner.file.functions.get(value.func.id)
        returned = None if own is None else self._returned(own[1], value)
        return returned if isinstance(returned, list) and len(returned) == count else None

    def _each(self, value: ast.expr) -> Axes | None:
        """What each part of ``qkv.chunk(3, dim=-1)``, or of a comprehension over it, is."""
        if isinstance(value, ast.GeneratorExp | ast.ListComp) and len(value.generators) == 1:
            generator = value.generators[0]
            inner = self._each(generator.iter)
            if inner is None or not isinstance(generator.target, ast.Name):
                return None
            kept = self.names.get(generator.target.id)
            self.names[generator.target.id] = inner
            axes = self.of(value.elt)
            self.names.pop(generator.target.id)
            if kept is not None:
                self.names[generator.target.id] = kept
            return axes
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in ("chunk", "split")
        ):
            axes = self.of(value.func.value)
            axis = argument(value, "dim", 1)
            if axes is not None and axis is not None and ast.unparse(axis) in ("-1", str(len(axes) - 1)):
                return (*axes[:-1], "?")
        return None

    def of(self, node: ast.expr) -> Axes | None:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.BinOp):
            left, right = self.of(node.left), self.of(node.right)
            if isinstance(node.op, ast.MatMult):
                return self._product(left, right, node)
            return left if isinstance(node.op, ast.Div | ast.Mult) and right is None else None
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Tuple | ast.List):
            for item in node.elts:
                self.of(item)
        return None

    def _call(self, node: ast.Call) -> Axes | None:
        attribute = self_attribute(node.func)
        if attribute is not None:
            values = self.owner.assigned.get(attribute, [])
            kinds = {None if value is None else self.owner.file.layer(value) for value in values}
            given = self.of(node.args[0]) if node.args else None
            if given is None or kinds - {"Linear", "Dropout", "Identity"} or not kinds:
                return None
            return (*given[:-1], "?") if kinds == {"Linear"} else given if "Linear" not in kinds else None
        qualified = self.owner.file.qualified(node.func)
        if qualified in PRODUCTS and len(node.args) == 2:
            return self._product(self.of(node.args[0]), self.of(node.args[1]), node)
        if qualified == ATTENTION and node.args:
            axes = [self.of(item) for item in node.args[:3]]
            self._attended(axes[0], node)
            return axes[0]
        own = self.owner.file.functions.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if own is not None:
            returned = self._returned(own[1], node)
            return returned if isinstance(returned, tuple) else None
        if qualified in ("torch.softmax", "torch.nn.functional.softmax", "torch.nn.functional.dropout") and node.args:
            return self.of(node.args[0])
        if qualified is None and isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        return None

    def _returned(self, function: FunctionNode, node: ast.Call) -> Axes | list[Axes | None] | None:
        """What a function of the file returns: a tensor, or several."""
        returns = nodes_of(function, ast.Return)
        if self.depth >= 2 or len(returns) != 1 or returns[0].value is None or node.keywords:
            return None
        inner = _Walk(self.owner, function, False)
        inner.depth = self.depth + 1
        inner.parameters = set()
        for item, given in zip(function.args.args, node.args, strict=False):
            axes = self.of(given)
            if axes is not None:
                inner.names[item.arg] = axes
        for statement in function.body:
            if statement is not returns[0]:
                inner.statement(statement)
        value = returns[0].value
        return [inner.of(item) for item in value.elts] if isinstance(value, ast.Tuple) else inner.of(value)

    def _method(self, node: ast.Call, method: ast.Attribute) -> Axes | None:
        axes = self.of(method.value)
        if axes is None:
            return None
        if method.attr in KEEPING:
            return axes
        texts = [ast.unparse(item) for item in node.args]
        if method.attr in ("view", "reshape"):
            return self._viewed(axes, texts, node)
        if method.attr in ("transpose", "swapaxes") and len(texts) == 2:
            try:
                first, second = (int(text) % len(axes) for text in texts)
            except ValueError:
                return None
            changed = list(axes)
            changed[first], changed[second] = changed[second], changed[first]
            return tuple(changed)
        if method.attr == "permute" and sorted(texts) == [str(number) for number in range(len(axes))]:
            return tuple(axes[int(text)] for text in texts)
        return None

    def _viewed(self, axes: Axes, texts: list[str], node: ast.Call) -> Axes | None:
        tokens = self._tokens(axes)
        folded = bool(texts) and texts[0].startswith(f"{axes[0]} * ") and (tokens or "") not in texts[0].split(" * ")
        if folded and len(texts) == len(axes) == 3 and tokens == axes[1] and texts[1] in ("-1", tokens):
            self.found.append(Fault(self.owner.site(node), "split", ", ".join(axes), ", ".join(texts)))
        if len(texts) < 3 or texts[0] != axes[0] or any("*" in text and axes[0] in text for text in texts):
            return None
        if tokens is not None and tokens in texts and texts[1] != "1":
            before, after = axes.index(tokens), texts.index(tokens)
            crosses = len(texts) != len(axes) and before != after and not (before > 1 and axes[1] == texts[1])
            if crosses and {before, after} == {1, 2}:
                kind = "split" if after == 2 else "merged"
                self.found.append(Fault(self.owner.site(node), kind, ", ".join(axes), ", ".join(texts)))
                return None
        return tuple(texts)

    def _tokens(self, axes: Axes) -> str | None:
        """The name of the axis of tokens, as the input's shape was unpacked."""
        inputs = [self.names[name] for name in self.parameters if name in self.names]
        found = {each[1] for each in inputs if len(each) == 3 and each[0] == axes[0]}
        tokens = found.pop() if len(found) == 1 else None
        return tokens if tokens in axes else None

    def _product(self, left: Axes | None, right: Axes | None, node: ast.AST) -> Axes | None:
        if left is None or right is None or len(left) != len(right):
            return None
        if len(left) == 4 and left[:2] == right[:2] and self._tokens(left) == left[1]:
            self._attended(left, node)
        return (*left[:-1], right[-1])

    def _attended(self, axes: Axes | None, node: ast.AST) -> None:
        if axes is not None and len(axes) == 4 and self._tokens(axes) == axes[1]:
            site = self.owner.site(node)
            if all(site.node is not fault.site.node for fault in self.found):
                self.found.append(Fault(site, "over-heads", ", ".join(axes), ""))


def _first_size_of(value: ast.expr) -> str | None:
    """``x.size(0)`` and ``x.shape[0]`` -> x."""
    if isinstance(value, ast.Call) and ast.unparse(value).endswith(".size(0)"):
        owner = value.func.value if isinstance(value.func, ast.Attribute) else None
    elif isinstance(value, ast.Subscript) and ast.unparse(value).endswith(".shape[0]"):
        owner = value.value.value if isinstance(value.value, ast.Attribute) else None
    else:
        return None
    return owner.id if isinstance(owner, ast.Name) else None


def _shape_of(value: ast.expr) -> str | None:
    """``x.shape`` and ``x.size()`` -> x."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "size":
        return value.func.value.id if isinstance(value.func.value, ast.Name) and not value.args else None
    if isinstance(value, ast.Attribute) and value.attr == "shape" and isinstance(value.value, ast.Name):
        return value.value.id
    return None


def reads_shape(method: FunctionNode) -> bool:
    """It gives a name to sizes of a tensor."""
    return any(_shape_of(node.value) or _first_size_of(node.value) for node in nodes_of(method, ast.Assign))
