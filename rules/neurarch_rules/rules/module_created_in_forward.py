from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import PythonFile, assignments, nodes, python_file

RULE = RuleInfo(
    name="module-created-in-forward",
    severity="error",
    category="correctness",
    summary="A layer with parameters is made anew in every forward pass",
    reads=("python",),
    needs=("forward",),
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        method = found.methods.get("forward")
        if method is None:
            continue
        called = {
            node.func.id for node in nodes(method) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        for node in nodes(method):
            made = _fresh(file, node, called)
            if made is not None:
                name = ast.unparse(made.func)
                yield Finding(
                    f"{name} is made inside forward: every call has fresh random weights that no optimizer, state_dict "
                    f"or .to() knows, so nothing is learned; make it in __init__ and call it here",
                    found.site(made).place,
                )


def _fresh(file: PythonFile, node: ast.AST, called: set[str]) -> ast.Call | None:
    """``nn.Linear(...)(x)``, or a local layer that is called; a layer kept on self is made once, elsewhere judged."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Call) and _is_layer(file, node.func):
        return node.func
    for target, value in assignments(node):
        if (
            isinstance(target, ast.Name)
            and (target.id in called or _is_parameter(file, value))
            and isinstance(value, ast.Call)
            and _is_layer(file, value)
        ):
            return value
    return None


def _is_parameter(file: PythonFile, value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and file.qualified(value.func) == "torch.nn.Parameter"


def _is_layer(file: PythonFile, call: ast.Call) -> bool:
    if file.qualified(call.func) == "torch.nn.Parameter":
        return True
    return file.layer(call) is not None and file.makes_parameters(call)
