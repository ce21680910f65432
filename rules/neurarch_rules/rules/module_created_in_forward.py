from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    PythonFile,
    assignments,
    python_file,
    self_attribute,
    unmoved,
)
from neurarch_rules.facts.python_reach import of_classes
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

RULE = RuleInfo(
    name="module-created-in-forward",
    severity="error",
    category="correctness",
    summary="A layer with parameters is made anew in every forward pass",
    reads=("python",),
    needs=("forward", "_step"),
)


DROPOUTS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
STEPS = ("training_step", "validation_step", "shared_step", "_shared_step")
KEPT_CHECKS = ("hasattr", "getattr", "isinstance")


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    for method in _run_by_forward(found):
        yield from _in_method(found.file, found, method)


def _run_by_forward(found: ClassFacts) -> list[FunctionNode]:
    """``forward``, the steps that Lightning calls, and what they call on self, where nothing else of the class does."""
    begun = [found.methods[name] for name in ("forward", *STEPS) if name in found.methods]
    reached = begun[:]
    for method in reached:
        for name in sorted(_called_on_self(method)):
            helper = found.methods.get(name)
            if helper is not None and helper not in reached and not helper.decorator_list:
                reached.append(helper)
    others = {
        name for key, method in found.methods.items() if method not in reached for name in _called_on_self(method)
    }
    return [method for method in reached if method in begun or method.name not in others]


def _called_on_self(method: FunctionNode) -> set[str]:
    names = (self_attribute(node.func) for node in nodes_of(method, ast.Call))
    return {name for name in names if name is not None}


def _in_method(file: PythonFile, found: ClassFacts, method: FunctionNode) -> Iterator[Finding]:
    called = {node.func.id for node in nodes_of(method, ast.Call) if isinstance(node.func, ast.Name)}
    for node in nodes(method):
        made = _fresh(file, method, node, called)
        if made is None:
            continue
        name, where = ast.unparse(made.func), method.name
        if where not in ("forward", *STEPS):
            where = f"{where}, in forward"
        if file.layer(made) in DROPOUTS:
            yield Finding(
                f"{name} is made inside {where}: a new layer is always in training mode, so values are dropped after "
                "model.eval() too; make it in __init__, or use F.dropout(x, p, self.training)",
                found.site(made).place,
                severity="warning",
            )
        else:
            yield Finding(
                f"{name} is made inside {where}: every call has fresh random weights that no optimizer, state_dict "
                f"or .to() knows, so nothing is learned; make it in __init__ and call it here",
                found.site(made).place,
            )


def _fresh(file: PythonFile, method: FunctionNode, node: ast.AST, called: set[str]) -> ast.Call | None:
    """``nn.Linear(...)(x)``, a local layer that is called, or an attribute that each call replaces."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Call) and _is_layer(file, node.func):
        return node.func
    if isinstance(node, ast.For) and isinstance(node.iter, ast.List | ast.ListComp):
        items = node.iter.elts if isinstance(node.iter, ast.List) else [node.iter.elt]
        if items and isinstance(items[0], ast.Call) and all(file.makes_parameters(item) for item in items):
            return items[0]
    for target, value in assignments(node):
        if not isinstance(value, ast.Call) or not _is_layer(file, value):
            continue
        if isinstance(target, ast.Name) and (target.id in called or file.is_parameter(value)):
            return _layer_call(value)
        if self_attribute(target) is not None and node in method.body and not _is_kept(method, target):
            return _layer_call(value)
    return None


def _layer_call(value: ast.Call) -> ast.Call:
    inner = unmoved(value)
    return inner if isinstance(inner, ast.Call) else value


def _is_kept(method: FunctionNode, target: ast.expr) -> bool:
    """The attribute may be made once only: the method returns before, asks first, or does not use it itself."""
    attribute = self_attribute(target)
    line = getattr(target, "lineno", 0)
    early = any(isinstance(node, ast.Return) and node.lineno < line for node in nodes(method))
    asked = any(isinstance(node, ast.Call) and getattr(node.func, "id", "") in KEPT_CHECKS for node in nodes(method))
    uses = any(
        isinstance(node, ast.Call) and self_attribute(node.func) == attribute and node.lineno > line
        for node in nodes(method)
    )
    return early or asked or not uses or method.name != "forward"


def _is_layer(file: PythonFile, call: ast.Call) -> bool:
    layer = file.layer(call)
    return file.is_parameter(call) or layer in DROPOUTS or file.makes_parameters(call)
