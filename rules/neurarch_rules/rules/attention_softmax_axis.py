from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    argument,
    has_stars,
    last_name,
    python_file,
    self_attribute,
)
from neurarch_rules.facts.python_flow import Flow, Scope
from neurarch_rules.facts.python_reach import of_classes
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

RULE = RuleInfo(
    name="attention-softmax-axis",
    severity="warning",
    category="correctness",
    summary="Attention weights are normalized over another axis than the one they are multiplied with the values along",
    reads=("python",),
    needs=("softmax", "Softmax"),
)
SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax")
PRODUCTS = ("torch.matmul", "torch.bmm")
KEEPING = ("masked_fill", "float", "to", "type_as", "contiguous", "dropout", "half", "mul", "div")
DEPTH = 8


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    if "oftmax" not in found.placed.unit.text:
        return
    held = {name for name in found.assigned if _made(found, name) == {"Softmax"}}
    for method in found.methods.values():
        calls = nodes_of(method, ast.Call)
        if any("softmax" in last_name(call) or self_attribute(call.func) in held for call in calls):
            yield from _Method(found, method).findings()


class _Method:
    def __init__(self, found: ClassFacts, method: FunctionNode) -> None:
        self.found = found
        self.method = method
        self.flow = Flow(found.file)
        self.scope = Scope(found.placed, tuple(method.body), found, method)

    def findings(self) -> Iterator[Finding]:
        """Of each product of weights and values, the softmax the weights come from."""
        yield from self._summed_by_letter()
        for node in (*nodes_of(self.method, ast.BinOp), *nodes_of(self.method, ast.Call)):
            sides = self._sides(node)
            softmax = None if sides is None else self._softmax(sides[0], node, 0)
            if softmax is None:
                continue
            axis, scores = self._axis(softmax), self._scores(softmax, 0)
            if scores is None or axis == -1:
                continue
            rank = _rank(scores, node)
            if axis is None:
                if rank is not None:
                    yield self._finding(softmax, "without dim the softmax runs over the first axes, not over the keys")
            elif axis == -2 or axis == 0 or (rank is not None and axis < rank - 1):
                yield self._finding(softmax, f"dim={axis} is not the last axis, over which the values are summed")

    def _summed_by_letter(self) -> Iterator[Finding]:
        """``einsum("bijh,bjhd->bihd", weights, values)`` sums over j: so has the softmax of the weights to do."""
        for node in nodes_of(self.method, ast.Call):
            equation = node.args[0] if len(node.args) == 3 and last_name(node) == "einsum" else None
            if not isinstance(equation, ast.Constant) or not isinstance(equation.value, str):
                continue
            softmax = self._softmax(node.args[1], node, 0)
            terms, _, output = equation.value.replace(" ", "").partition("->")
            weights, _, values = terms.partition(",")
            summed = [letter for letter in weights if letter in values and letter not in output]
            axis = None if softmax is None else self._axis(softmax)
            if softmax is None or axis is None or len(summed) != 1 or not weights.isalpha():
                continue
            if weights[0] not in values or len(values) < 3:
                continue  # heads that are mixed by a matrix are no values
            if (
                self._is_unknown(softmax)
                or self._scores(softmax, 0) is None
                or not -len(weights) <= axis < len(weights)
            ):
                continue
            if weights[axis] != summed[0]:
                right = weights.index(summed[0])
                yield self._finding(
                    softmax, f"dim={axis} runs over {weights[axis]}, and the values are summed over {summed[0]}", right
                )

    def _is_unknown(self, softmax: ast.Call) -> bool:
        given = self._given(softmax)
        return given is not None and not isinstance(given, ast.Constant | ast.UnaryOp)

    def _finding(self, softmax: ast.Call, what: str, right: int = -1) -> Finding:
        return Finding(
            f"{what}: the weights of a query do not add up to one, silently; pass dim={right}",
            self.found.site(softmax).place,
        )

    def _sides(self, node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return node.left, node.right
        if isinstance(node, ast.Call) and not has_stars(node):
            if self.found.file.qualified(node.func) in PRODUCTS and len(node.args) == 2:
                return node.args[0], node.args[1]
            is_method = isinstance(node.func, ast.Attribute) and self.found.file.qualified(node.func) is None
            if is_method and isinstance(node.func, ast.Attribute) and node.func.attr in ("matmul", "bmm") and node.args:
                return node.func.value, node.args[0]
        return None

    def _value(self, node: ast.expr, before: ast.AST) -> ast.expr | None:
        return self.flow.last(node.id, self.scope, before) if isinstance(node, ast.Name) else node

    def _softmax(self, node: ast.expr, before: ast.AST, depth: int) -> ast.Call | None:
        """The softmax whose output, perhaps behind a dropout, an expression is."""
        value = self._value(node, before)
        if depth > DEPTH or not isinstance(value, ast.Call):
            return None
        if self._is_softmax(value):
            return value
        layer = self_attribute(value.func)
        is_dropout = layer is not None and _made(self.found, layer) == {"Dropout"}
        if (is_dropout or self.found.file.qualified(value.func) == "torch.nn.functional.dropout") and value.args:
            return self._softmax(value.args[0], value, depth + 1)
        if isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "type_as", "float"):
            return self._softmax(value.func.value, value, depth + 1)
        return None

    def _is_softmax(self, call: ast.Call) -> bool:
        if self.found.file.qualified(call.func) in SOFTMAX:
            return True
        layer = self_attribute(call.func)
        if layer is not None:
            return _made(self.found, layer) == {"Softmax"}
        return isinstance(call.func, ast.Attribute) and call.func.attr == "softmax"

    def _axis(self, call: ast.Call) -> int | None:
        """None where none is given; -1 where it is not known."""
        given = self._given(call)
        return None if given is None else _number(given)

    def _given(self, call: ast.Call) -> ast.expr | None:
        """The argument dim of a softmax."""
        layer = self_attribute(call.func)
        if layer is not None:
            values = self.found.assigned[layer]
            made = values[0] if len(values) == 1 else None
            return argument(made, "dim", 0) if isinstance(made, ast.Call) else ast.Name("unknown")
        if self.found.file.qualified(call.func) in SOFTMAX:
            return argument(call, "dim", 1)
        return argument(call, "dim", 0)

    def _scores(self, softmax: ast.Call, depth: int) -> ast.AST | None:
        """The product of queries and keys that a softmax is given, whatever scales and masks it."""
        is_layer = self_attribute(softmax.func) is not None
        is_method = not is_layer and self.found.file.qualified(softmax.func) is None
        given = softmax.func.value if is_method and isinstance(softmax.func, ast.Attribute) else None
        if given is None:
            given = softmax.args[0] if softmax.args else None
        return None if given is None else self._product(given, softmax, depth)

    def _product(self, node: ast.expr, before: ast.AST, depth: int) -> ast.AST | None:
        value = self._value(node, before)
        if value is None or depth > DEPTH:
            return None
        sides = self._sides(value)
        if sides is not None:
            return value if _is_transposed(sides[1]) else None
        if isinstance(value, ast.Call) and last_name(value) == "einsum":
            return value
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div | ast.Mult | ast.Add | ast.Sub):
            return self._product(value.left, value, depth + 1)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in KEEPING:
            return self._product(value.func.value, value, depth + 1)
        return None


def _made(found: ClassFacts, attribute: str) -> set[str | None]:
    return {None if value is None else found.file.layer(value) for value in found.assigned.get(attribute, [])}


def _is_transposed(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("T", "mT")
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("transpose", "permute", "swapaxes", "t")


def _rank(scores: ast.AST, product: ast.AST) -> int | None:
    """The least number of axes that the scores surely have, where that is over two."""
    ranks = [0]
    for node in (*nodes(scores), *nodes(product)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            axes = [_number(item) for item in node.args]
            if node.func.attr == "bmm":
                return 3
            if node.func.attr in ("transpose", "swapaxes"):
                ranks += [axis + 1 for axis in axes[-2:] if axis is not None and axis > 0]
            if node.func.attr == "permute":
                ranks.append(len(axes))
    return max(ranks) if max(ranks) > 2 else None


def _number(node: ast.expr) -> int | None:
    """-1 for what is no number."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    return sign * node.value if isinstance(node, ast.Constant) and type(node.value) is int else -1
