from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    PythonFile,
    Site,
    assigning,
    assignments,
    python_file,
    self_attribute,
)
from neurarch_rules.facts.python_reach import of_classes
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

RULE = RuleInfo(
    name="tensor-not-registered",
    severity="warning",
    category="correctness",
    summary="A tensor kept on a module is neither a parameter nor a buffer of it",
    reads=("python",),
    needs=("Parameter", "requires_grad", "torch."),
)

FACTORIES = frozenset(
    f"torch.{name}"
    for name in ("zeros", "ones", "empty", "rand", "randn", "full", "eye", "arange", "linspace", "tensor", "randint")
)
TRIANGLES = ("torch.tril", "torch.triu")
COPYING = frozenset(
    ("cuda", "to", "half", "float", "double", "type", "clone", "view", "reshape", "unsqueeze", "expand", "repeat", "t",
     "transpose", "permute", "bfloat16", "squeeze", "mul", "div", "add")
)  # fmt: skip
"""Methods of a tensor that give another one."""
MOVED = re.compile(
    r"device|\.to\(|\.cuda\(|\.cpu\(|type_as|_apply|register_buffer|new_tensor|dtype\b|numpy|load_state_dict"
)
"""What code writes that cares for devices by itself."""


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    file, init = found.file, found.methods.get("__init__")
    if init is not None:
        for attribute, values in found.assigned.items():
            if len(values) != 1 or values[0] is None or _is_wrapped(found, attribute):
                continue
            value = values[0]
            made = _parameter(file, value)
            if made is not None:
                yield _lost_parameter(found, attribute, value, made)
            elif _wants_gradient(file, value) and "optim" not in ast.unparse(found.node):
                yield Finding(
                    f"self.{attribute} wants a gradient but is no nn.Parameter: it is not in parameters(), so the "
                    "optimizer never changes it, nor in state_dict(), nor moved by .to(); wrap it in nn.Parameter",
                    found.site(value).place,
                    severity="error",
                )
            elif _is_constant(file, init, value) and _is_used(found, attribute):
                yield _lost_buffer(found, init, attribute, value)


def _parameter(file: PythonFile, value: ast.expr) -> ast.Call | None:
    """The ``nn.Parameter(...)`` whose result is changed on the spot: moved, copied, scaled."""
    node: ast.expr = value
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COPYING:
            if file.qualified(node.func) is not None:
                return None
            node = node.func.value
        elif isinstance(node, ast.BinOp):
            node = node.left if file.is_parameter(node.left) else node.right
        else:
            break
    return node if node is not value and isinstance(node, ast.Call) and file.is_parameter(node) else None


def _wants_gradient(file: PythonFile, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr == "requires_grad_" and not value.args:
        inner = value.func.value
        return isinstance(inner, ast.Call) and file.qualified(inner.func) in FACTORIES
    name = file.qualified(value.func)
    if name not in FACTORIES and name != "torch.autograd.Variable":
        return False
    return any(
        item.arg == "requires_grad" and isinstance(item.value, ast.Constant) and item.value.value is True
        for item in value.keywords
    )


def _is_constant(file: PythonFile, init: FunctionNode, value: ast.expr) -> bool:
    """A tensor of numbers made in the constructor, for no device in particular."""
    if isinstance(value, ast.Name):
        made = [
            given
            for node in assigning(init)
            for target, given in assignments(node)
            if isinstance(target, ast.Name) and target.id == value.id and not isinstance(node, ast.AugAssign)
        ]
        return (
            len(made) == 1
            and made[0] is not None
            and not isinstance(made[0], ast.Name)
            and (_is_constant(file, init, made[0]))
        )
    if not isinstance(value, ast.Call):
        return False
    name = file.qualified(value.func)
    if name in TRIANGLES and value.args:
        return _is_constant(file, init, value.args[0])
    return name in FACTORIES and not any(item.arg in ("device", "requires_grad", "dtype") for item in value.keywords)


def _is_used(found: ClassFacts, attribute: str) -> bool:
    """Forward calculates with it, and nothing in the class cares for devices."""
    forward = found.methods.get("forward")
    if forward is None or not found.is_closed or MOVED.search(ast.unparse(found.node)):
        return False
    parents = found.placed.unit.parents
    for node in nodes(forward):
        if self_attribute(node) != attribute:
            continue
        above = parents[node]
        while isinstance(above, ast.Subscript | ast.Compare):
            above = parents[above]
        if isinstance(above, ast.BinOp):
            return True
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and above.func.attr == "masked_fill":
            return True
    return False


def _is_wrapped(found: ClassFacts, attribute: str) -> bool:
    """The attribute is handed on: to a parameter, a buffer, an optimizer."""
    for node in nodes_of(found.node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("Parameter", "register_parameter", "register_buffer", "ParameterList", "setattr") and any(
            self_attribute(part) == attribute for item in node.args for part in nodes(item)
        ):
            return True
    return False


def _lost_parameter(found: ClassFacts, attribute: str, value: ast.expr, made: ast.Call) -> Finding:
    site, text = found.site(value), found.file.text
    fixes: tuple[Fix, ...] = ()
    start, end = site.span
    inner = Site(found.placed, made).span
    if isinstance(value, ast.Call) and len(made.args) == 1 and not made.keywords and inner[0] == start:
        argument = found.site(made.args[0]).span
        given = text[argument[0] : argument[1]]
        given = given if isinstance(made.args[0], ast.Call | ast.Name | ast.Attribute) else f"({given})"
        moved = f"{text[start : argument[0]]}{given}{text[inner[1] : end]})"
        fixes = (site.replace(moved, "Make the parameter of the result", "unsafe"),)
    what = "the result of a method" if isinstance(value, ast.Call) else "the result of arithmetic"
    return Finding(
        f"self.{attribute} is {what} on the nn.Parameter, a plain tensor and not the parameter: it is not in "
        "parameters() (never trained) and not in state_dict(); wrap the result in nn.Parameter instead",
        site.place,
        fixes=fixes,
        severity="error",
    )


def _lost_buffer(found: ClassFacts, init: FunctionNode, attribute: str, value: ast.expr) -> Finding:
    fixes: tuple[Fix, ...] = ()
    for node in nodes(init):
        if isinstance(node, ast.Assign) and node.value is value and len(node.targets) == 1:
            start, end = found.site(value).span
            source = found.file.text[start:end]
            new = f'self.register_buffer("{attribute}", {source}, persistent=False)'
            fixes = (found.site(node).replace(new, "Register it as a buffer", "unsafe"),)
    return Finding(
        f"self.{attribute} is a plain tensor: model.to(device) does not move it, so forward fails on any device but "
        f'the CPU; use self.register_buffer("{attribute}", ...)',
        found.site(value).place,
        fixes=fixes,
    )
