from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    FUNCTIONS,
    ClassFacts,
    FunctionNode,
    assignments,
    first_argument,
    is_attribute_of,
    python_file,
)
from neurarch_rules.facts.python_reach import of_classes
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

RULE = RuleInfo(
    name="module-before-super-init",
    severity="error",
    category="correctness",
    summary="A module or parameter is assigned although super().__init__() has not run",
    reads=("python",),
    needs=("__init__",),
)

REGISTERING = ("register_buffer", "register_parameter", "add_module", "register_module")


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    method = found.methods.get("__init__")
    if method is None or not found.has_known_bases or found.node.decorator_list:
        return
    first = _initialized(found, method, frozenset())
    for node in _own_nodes(method):
        if first is not None and node.lineno >= first.lineno:
            continue
        target = _registered(found, method, node) or _in_helper(found, method, node)
        if target is not None:
            yield _finding(found, target, first)
            break


def _own_nodes(method: FunctionNode) -> list[ast.stmt | ast.expr]:
    """Statements and expressions of a method by line, without those of functions inside it."""
    inside = {id(each) for part in nodes(method) if isinstance(part, FUNCTIONS) and part is not method
              for each in nodes(part)}  # fmt: skip
    found = [node for node in nodes(method) if isinstance(node, ast.stmt | ast.expr) and id(node) not in inside]
    return sorted((node for node in found if node is not method), key=lambda node: node.lineno)


def _initialized(found: ClassFacts, method: FunctionNode, seen: frozenset[str]) -> ast.Call | None:
    """The first call that may run ``torch.nn.Module.__init__``."""
    for node in sorted(nodes_of(method, ast.Call), key=lambda item: item.lineno):
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super" and not _is_spent(found, node):
            return node
        if not isinstance(function, ast.Attribute):
            continue
        if function.attr in ("__init__", "__post_init__", "__setstate__"):
            if ast.unparse(function.value) in ("object", "super(nn.Module, self)", "super(torch.nn.Module, self)"):
                continue
            if not _is_super(function.value) or not _forgotten(found, seen | {found.name}):
                return node
        elif _is_super(function.value):
            if any(base.method(function.attr) is not None for base in found.own_bases):
                return node
        elif is_attribute_of(function, first_argument(method)):
            helper = found.method(function.attr)
            if helper is not None and any(
                isinstance(item, ast.Attribute) and item.attr == "__init__" for item in nodes(helper[1])
            ):
                return node
    return None


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _is_spent(found: ClassFacts, node: ast.Call) -> bool:
    """``super()`` whose method is judged by itself, or that stands alone and does nothing."""
    above = found.placed.unit.parents[node]
    return isinstance(above, ast.Attribute | ast.Expr)


def _forgotten(found: ClassFacts, seen: frozenset[str]) -> bool:
    """The constructor that ``super().__init__`` reaches stands in this file and goes no further."""
    for base in found.own_bases:
        inherited = base.method("__init__")
        if inherited is not None and inherited[0].name not in seen:
            return _initialized(inherited[0], inherited[1], seen) is None
    return False


def _in_helper(found: ClassFacts, method: FunctionNode, node: ast.AST) -> ast.AST | None:
    """What a method of this class that is called here registers first."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    helper = found.methods.get(node.func.attr)
    if helper is None or helper is method or not is_attribute_of(node.func, first_argument(method)):
        return None
    targets = (_registered(found, helper, each) for each in _own_nodes(helper))
    return next((target for target in targets if target is not None), None)


def _registered(found: ClassFacts, method: FunctionNode, node: ast.AST) -> ast.AST | None:
    """The target of an assignment, or the call, that needs the module's registries."""
    own = first_argument(method)
    for target, value in assignments(node):
        if is_attribute_of(target, own) and value is not None and _is_module(found, method, value):
            return target
    if isinstance(node, ast.Call) and is_attribute_of(node.func, own):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return node if name in REGISTERING and name not in found.methods else None
    return None


def _is_module(found: ClassFacts, method: FunctionNode, value: ast.expr) -> bool:
    if found.file.makes_module(value) or found.file.is_parameter(value):
        return True
    if isinstance(value, ast.Name):
        for item in (*method.args.args, *method.args.kwonlyargs):
            if item.arg == value.id and item.annotation is not None:
                return found.file.qualified(item.annotation) == "torch.nn.Module"
    return False


def _finding(found: ClassFacts, target: ast.AST, first: ast.Call | None) -> Finding:
    site = found.site(target)
    call = target if isinstance(target, ast.Call) else None
    shown = ast.unparse(target if call is None else call.func)
    done = "assigned" if call is None else "called"
    advice = "call it first" if first is not None else "it is never called: make it the first line of __init__"
    return Finding(
        f"{shown} is {done} before super().__init__() has made the registries of the module, which raises "
        f"AttributeError; {advice}",
        site.place,
        () if first is None else (found.site(first).related("called only here"),),
    )
