"""The sizes of tensors through ``forward``: which layer is handed what another one has made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from neurarch_rules.facts.python_file import FUNCTIONS, ClassFacts, FunctionNode, Site, first_argument
from neurarch_rules.facts.python_shapes import ANY, RECURRENT, Several, Shape, after, flat, found_in, wanted
from neurarch_rules.facts.python_values import NOTHING, Built, Events, Instance, Layer, Value
from neurarch_schemas.documents.python_nodes import nodes_of, stored

DEPTH = 6
STEPS = 4_000
ELEMENTWISE = frozenset(
    (
        "relu", "relu_", "gelu", "silu", "elu", "selu", "leaky_relu", "tanh", "sigmoid", "softmax", "log_softmax",
        "mish", "softplus", "dropout", "normalize", "contiguous", "clone", "detach", "float", "half", "to", "type",
        "cuda", "cpu", "abs", "exp", "log", "sqrt", "clamp", "pow", "neg", "masked_fill", "type_as", "bfloat16",
    )
)  # fmt: skip
"""Functions and methods that keep every axis."""
POOLING = frozenset(("max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "interpolate"))
REDUCING = frozenset(("mean", "sum", "amax", "amin"))
SHAPED = frozenset(
    ("view", "reshape", "permute", "transpose", "squeeze", "unsqueeze", "flatten", "size", "shape", "mean")
)
"""What a tensor has and a tuple does not."""
OF_MODULES = ("torch.", "torch.nn.functional.")


@dataclass(frozen=True)
class Clash:
    """``layer``, called at ``site``, meets ``met`` features or channels that ``giver`` gave."""

    layer: Layer
    site: Site
    met: int
    giver: Layer | None


@dataclass(frozen=True)
class TupleUsed:
    """The tuple that ``giver`` returns is used at ``site`` as if it were a tensor."""

    giver: Layer
    site: Site
    how: str


Fault = Clash | TupleUsed


class _OutOfSteps(Exception):
    pass


def faults(built: Built) -> tuple[Fault, ...]:
    """Of the forward of an instance that surely is constructed, whatever it is called with; kept with it."""
    known = vars(built)
    if "_faults" not in known:
        known["_faults"] = _faults(built.instance)
    return cast("tuple[Fault, ...]", known["_faults"])


def _faults(instance: Instance) -> tuple[Fault, ...]:
    found = instance.of.method("forward")
    if found is None or instance.look is None or not _says_something(instance, 0):
        return ()
    walk = _Walk()
    try:
        walk.run(instance, found, [], {}, 0)
    except (_OutOfSteps, RecursionError):
        return ()
    return tuple(walk.found)


def _says_something(held: object, depth: int) -> bool:
    """A module in which some layer takes a known size, or returns a tuple: others are not worth the way."""
    if isinstance(held, Instance):
        return depth < DEPTH and any(_says_something(value.of, depth + 1) for value in held.attributes.values())
    if not isinstance(held, Layer):
        return False
    if held.name in RECURRENT or held.name == "MultiheadAttention" or wanted(held) is not None:
        return True
    return any(_says_something(child.of, depth + 1) for child in held.children)


class _Scope:
    def __init__(self, owner: ClassFacts, instance: Instance, this: str, names: dict[str, Shape | Several]) -> None:
        self.owner = owner
        self.instance = instance
        self.this = this
        self.names = names
        self.tensors: set[str] = set()
        """Names that were handed to a layer: tensors, whatever their size."""
        self.returned: list[Shape | Several] = []
        self.depth = 0


class _Walk:
    def __init__(self) -> None:
        self.found: list[Fault] = []
        self.steps = 0

    def run(
        self,
        instance: Instance,
        method: tuple[ClassFacts, FunctionNode],
        given: list[Shape | Several],
        named: dict[str, Shape | Several],
        depth: int,
    ) -> Shape | Several:
        owner, function = method
        names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
        scope = _Scope(owner, instance, first_argument(function), dict(zip(names[1:], given, strict=False)) | named)
        scope.depth = depth
        self._block(function.body, scope)
        return scope.returned[0] if len(scope.returned) == 1 else ANY

    def _block(self, body: list[ast.stmt], scope: _Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: _Scope) -> None:
        if isinstance(node, ast.Assign):
            value = self._of(node.value, scope)
            for target in node.targets:
                self._assign(target, value, scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, self._of(node.value, scope), scope)
        elif isinstance(node, ast.AugAssign):
            left = self._of(ast.Name(node.target.id), scope) if isinstance(node.target, ast.Name) else ANY
            self._assign(node.target, self._sum(left, self._of(node.value, scope), node, scope), scope)
        elif isinstance(node, ast.Expr):
            self._of(node.value, scope)
        elif isinstance(node, ast.Return):
            scope.returned.append(ANY if node.value is None else self._of(node.value, scope))
        elif isinstance(node, ast.With):
            self._block(node.body, scope)
        elif isinstance(node, ast.If):
            self._if(node, scope)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            scope.names.pop(node.name, None)
        else:
            self._forget(node, scope)
            if isinstance(node, ast.For | ast.While):
                before = dict(scope.names)
                self._block(node.body, scope)
                scope.names = before
                scope.returned += [ANY] if scope.returned else []

    def _if(self, node: ast.If, scope: _Scope) -> None:
        for call in nodes_of(node.test, ast.Call):
            if getattr(call.func, "id", "") in ("isinstance", "type", "len"):
                self._forget_names(call, scope)  # what it is decides which branch runs
        before, results = dict(scope.names), []
        for branch in (node.body, node.orelse):
            scope.names = dict(before)
            count = len(scope.returned)
            self._block(branch, scope)
            ends = len(scope.returned) > count or any(isinstance(item, ast.Raise) for item in branch)
            if not ends:
                results.append(scope.names)
        merged = results[0] if results else before
        for other in results[1:]:
            merged = {name: value for name, value in merged.items() if other.get(name) == value}
        scope.names = dict(merged)

    def _forget(self, node: ast.AST, scope: _Scope) -> None:
        for name in stored(node):
            scope.names.pop(name, None)

    def _forget_names(self, node: ast.AST, scope: _Scope) -> None:
        for name in nodes_of(node, ast.Name):
            scope.names.pop(name.id, None)

    def _assign(self, target: ast.expr, value: Shape | Several, scope: _Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            items = value.items if isinstance(value, Several) and len(value.items) == len(target.elts) else None
            for number, inner in enumerate(target.elts):
                self._assign(inner, ANY if items is None else items[number], scope)

    def _of(self, node: ast.expr, scope: _Scope) -> Shape | Several:
        self.steps += 1
        if self.steps > STEPS:
            raise _OutOfSteps
        if isinstance(node, ast.Name):
            return scope.names.get(node.id, ANY)
        if isinstance(node, ast.Call):
            return self._call(node, scope)
        if isinstance(node, ast.BinOp):
            left, right = self._of(node.left, scope), self._of(node.right, scope)
            for one, other in ((left, node.right), (right, node.left)):
                if isinstance(one, Several) and isinstance(other, ast.Name) and other.id in scope.tensors:
                    self._tuple(one, node, "is added to a tensor", scope)
                    return ANY
            return self._sum(left, right, node, scope) if not isinstance(node.op, ast.MatMult) else ANY
        if isinstance(node, ast.Subscript):
            return self._item(node, self._of(node.value, scope), scope)
        if isinstance(node, ast.IfExp):
            left, right = self._of(node.body, scope), self._of(node.orelse, scope)
            return left if left == right else ANY
        if isinstance(node, ast.Attribute):
            owner = self._of(node.value, scope) if not isinstance(node.value, ast.Attribute) else ANY
            if isinstance(owner, Several) and node.attr in SHAPED:
                self._tuple(owner, node, f"has no .{node.attr}", scope)
            return ANY
        if isinstance(node, ast.Tuple | ast.List):
            for item in node.elts:
                self._of(item, scope)
        return ANY

    def _call(self, node: ast.Call, scope: _Scope) -> Shape | Several:
        has_stars = any(isinstance(item, ast.Starred) for item in node.args)
        given = [self._of(item, scope) for item in node.args]
        named = {item.arg: self._of(item.value, scope) for item in node.keywords if item.arg is not None}
        if has_stars:
            return ANY
        called = self._made(node.func, scope).of
        if isinstance(called, Layer):
            scope.tensors.update(item.id for item in node.args[:1] if isinstance(item, ast.Name))
            return self._through(called, given[0] if given else named.get("input", ANY), node, scope)
        if isinstance(called, Instance):
            method = called.of.method("forward")
            if method is None or called.look is None or scope.depth >= DEPTH:
                return ANY
            return self.run(called, method, given, named, scope.depth + 1)
        return self._function(node, given, scope)

    def _made(self, function: ast.expr, scope: _Scope) -> Value:
        """The module that an expression over self holds: ``self.fc``, ``self.layers[0]``."""
        root = function
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if root is function or not isinstance(root, ast.Name) or root.id != scope.this or scope.instance.look is None:
            return NOTHING
        return scope.instance.look(function, scope.this)

    def _through(self, layer: Layer, given: Shape | Several, node: ast.Call, scope: _Scope) -> Shape | Several:
        if layer.name == "Sequential":
            for child in layer.children:
                if isinstance(child.of, Layer):
                    given = self._through(child.of, given, node, scope)
                elif isinstance(child.of, Instance) and child.of.look is not None and scope.depth < DEPTH:
                    method = child.of.of.method("forward")
                    given = ANY if method is None else self.run(child.of, method, [given], {}, scope.depth + 1)
                else:
                    given = ANY
            return given if layer.children else ANY
        if isinstance(given, Several):
            if layer.name != "Identity":
                self._tuple(given, node, f"goes into {layer.name} as it is", scope)
            return ANY
        met = found_in(layer, given)
        if met is not None:
            self.found.append(Clash(layer, scope.owner.site(node), met, given.giver))
        return after(layer, given)

    def _function(self, node: ast.Call, given: list[Shape | Several], scope: _Scope) -> Shape | Several:
        """Functions of torch and methods of tensors."""
        qualified = scope.owner.file.qualified(node.func)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else (qualified or "").rpartition(".")[2]
        arguments: list[ast.expr] = node.args
        if qualified is None:
            if not isinstance(node.func, ast.Attribute) or getattr(node.func.value, "id", "") == scope.this:
                return ANY
            value = self._of(node.func.value, scope)
        elif qualified.startswith(OF_MODULES) and node.args:
            if name in ("cat", "concat", "hstack"):
                return self._joined(node, scope)
            value, arguments = given[0], node.args[1:]
        else:
            return ANY
        if isinstance(value, Several):
            shapes_it = name in ELEMENTWISE or name in SHAPED or name in REDUCING
            if shapes_it and name not in ("to", "type", "cuda", "cpu"):
                self._tuple(value, node, f"is given to {name}", scope)
            return ANY
        return self._shaped(name, value, arguments, node)

    def _shaped(self, name: str, value: Shape, arguments: list[ast.expr], node: ast.Call) -> Shape:
        numbers = [_number(item) for item in arguments]
        if name in ELEMENTWISE:
            return value
        if name in POOLING:
            return replace(value, last=None, cells=None)
        if name.startswith(("adaptive_avg_pool", "adaptive_max_pool")):
            return replace(value, last=None, cells=1 if _is_one(arguments) else None)
        if name == "flatten":
            return flat(value) if numbers[:1] == [1] and len(numbers) == 1 and not node.keywords else ANY
        if name == "permute":
            return _permuted(value, numbers)
        if name in ("view", "reshape"):
            return _viewed(value, arguments, numbers)
        if name == "transpose" and len(numbers) == 2 and value.rank == 3:
            if set(numbers) in ({1, 2}, {-1, -2}, {1, -1}, {2, -2}):
                return Shape(3, value.second, value.last, giver=value.giver)
            return Shape(3, value.last, None, giver=value.giver) if set(numbers) == {0, 1} else ANY
        if name in REDUCING:
            return _reduced(value, node)
        return ANY

    def _joined(self, node: ast.Call, scope: _Scope) -> Shape:
        """``torch.cat((a, b), dim=1)``: the sum of the sizes on the axis, where it is the last one."""
        axis = next((item.value for item in node.keywords if item.arg in ("dim", "axis")), None)
        axis = node.args[1] if axis is None and len(node.args) > 1 else axis
        number = 0 if axis is None else _number(axis)
        parts = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List) else []
        shapes = [self._of(item, scope) for item in parts]
        known = [shape for shape in shapes if isinstance(shape, Shape)]
        if not known or len(known) != len(shapes) or number is None:
            return ANY
        rank = next((shape.rank for shape in known if shape.rank is not None), None)
        giver = known[0].giver
        if number == -1 or (rank is not None and number == rank - 1):
            sizes = [shape.last for shape in known]
            last = sum(size for size in sizes if size is not None) if None not in sizes else None
            return Shape(rank, last, last if rank == 2 else None, giver=giver)
        if number == 1 and rank is not None and rank > 2:
            sizes = [shape.second for shape in known]
            second = sum(size for size in sizes if size is not None) if None not in sizes else None
            return Shape(rank, None, second, giver=giver)
        return ANY

    def _item(self, node: ast.Subscript, value: Shape | Several, scope: _Scope) -> Shape | Several:
        if isinstance(value, Several):
            number = _number(node.slice)
            if number is not None and -len(value.items) <= number < len(value.items):
                return value.items[number]
            if isinstance(node.slice, ast.Tuple):
                self._tuple(value, node, "is indexed with several indices", scope)
            return ANY
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if value.rank is None or len(parts) > value.rank:
            return ANY
        dims = _dims(value)
        left: list[int | None] = []
        for part, size in zip(parts, dims, strict=False):
            if isinstance(part, ast.Slice):
                is_whole = part.lower is None and part.upper is None and part.step is None
                left.append(size if is_whole else None)
            elif _number(part) is None:
                return ANY
        left += dims[len(parts) :]
        return _of_dims(left, value.giver)

    def _sum(self, left: Shape | Several, right: Shape | Several, node: ast.AST, scope: _Scope) -> Shape | Several:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Several):
                if isinstance(other, Shape) and other.giver is not None:
                    self._tuple(one, node, "is added to a tensor", scope)
                return ANY
        if not isinstance(left, Shape) or not isinstance(right, Shape):
            return ANY
        if left == right:
            return left
        known = left if right == ANY else right if left == ANY else ANY
        if known.last == 1:
            return ANY
        # what is added may have more axes, of which the last is the same
        return known if known.rank is not None and known.rank > 2 else Shape(None, known.last, giver=known.giver)

    def _tuple(self, value: Several, node: ast.AST, how: str, scope: _Scope) -> None:
        self.found.append(TupleUsed(value.giver, scope.owner.site(node), how))


def _number(node: ast.expr) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    return sign * node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _dims(value: Shape) -> list[int | None]:
    """The sizes of all axes of a tensor whose number of axes is known."""
    dims: list[int | None] = [None] * (value.rank or 0)
    if len(dims) > 1:
        dims[1] = value.second
    if dims:
        dims[-1] = value.last
    return dims


def _of_dims(dims: list[int | None], giver: Layer | None) -> Shape:
    return Shape(len(dims), dims[-1], dims[1] if len(dims) > 1 else None, giver=giver) if dims else ANY


def _permuted(value: Shape, axes: list[int | None]) -> Shape:
    dims = _dims(value)
    if sorted(axis for axis in axes if axis is not None) != list(range(len(dims))):
        return ANY
    return _of_dims([dims[axis] for axis in axes if axis is not None], value.giver)


def _viewed(value: Shape, arguments: list[ast.expr], numbers: list[int | None]) -> Shape:
    if len(arguments) < 2 or any(isinstance(item, ast.Tuple | ast.List | ast.Starred) for item in arguments):
        return ANY
    if len(arguments) == 2 and numbers[1] == -1 and numbers[0] != -1:
        return flat(value) if value.cells is not None or value.rank == 2 else Shape(2)
    last = numbers[-1] if numbers[-1] is not None and numbers[-1] > 0 else None
    return Shape(len(arguments), last, last if len(arguments) == 2 else None)


def _is_one(arguments: list[ast.expr]) -> bool:
    return bool(arguments) and ast.unparse(arguments[0]) in ("1", "(1, 1)", "[1, 1]", "(1,)", "(1, 1, 1)")


def _reduced(value: Shape, node: ast.Call) -> Shape:
    """``x.mean(1)``, ``x.mean(dim=(2, 3))``, ``x.mean([-2, -1])``."""
    axis = next((item.value for item in node.keywords if item.arg in ("dim", "axis")), None)
    is_method = isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name)
    axis = node.args[0] if axis is None and node.args and (is_method or len(node.args) == 1) else axis
    if axis is None or value.rank is None or len(node.keywords) + len(node.args) > 1:
        return ANY
    items = axis.elts if isinstance(axis, ast.Tuple | ast.List) else [axis]
    numbers = {number % value.rank for item in items if (number := _number(item)) is not None}
    if len(numbers) != len(items):
        return ANY
    left = [number for number in range(value.rank) if number not in numbers]
    if len(left) < 2:
        return ANY
    sizes: dict[int, int | None] = {1: value.second, value.rank - 1: value.last}
    last, second = sizes.get(left[-1]), sizes.get(left[1])
    return Shape(len(left), last, second if len(left) != 2 else last, giver=value.giver)


def each_fault(found: Events) -> Iterator[Fault]:
    """Of all modules that are constructed, each fault once."""
    seen: set[tuple[type, int]] = set()
    for built in found.built:
        for fault in faults(built):
            key = type(fault), id(fault.site.node)
            if key not in seen:
                seen.add(key)
                yield fault
