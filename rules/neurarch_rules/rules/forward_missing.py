from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import FUNCTIONS, ClassFacts, FunctionNode, loads, python_file
from neurarch_rules.facts.python_reach import of_classes
from neurarch_rules.facts.spelling import distance
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

RULE = RuleInfo(
    name="forward-missing",
    severity="error",
    category="correctness",
    summary="forward or __init__ of a module is misspelled or stands inside another method, so it is never called",
    reads=("python",),
    needs=("Module",),
)
CONSTRUCTORS = frozenset(
    ("__int__", "_init_", "__init", "__init_", "_init__", "init__", "__init___", "___init__", "__Init__", "__inti__")
)


def check(context: Context) -> Iterator[Finding]:
    return of_classes(python_file(context).modules, _of_class)


def _of_class(found: ClassFacts) -> Iterator[Finding]:
    if not found.is_closed:
        return
    if found.method("__init__") is None or "__init__" not in found.methods:
        for name in CONSTRUCTORS & found.methods.keys():
            method = found.methods[name]
            if _is_constructor(method):
                yield _misspelled(found, method, "__init__", "its layers are never made")
    if found.method("forward") is not None or found in found.file.derived:
        return
    for name, method in found.methods.items():
        if name.isalpha() and name != "forward" and distance(name.lower(), "forward", 2) <= 2:
            yield _misspelled(found, method, "forward", "calling the module raises NotImplementedError")
    for method in found.methods.values():
        for inner in _inside(method):
            yield Finding(
                f"forward stands inside {method.name}, so {found.name} has none and calling it raises "
                "NotImplementedError: indent it like the other methods",
                found.site(inner).place,
            )


def _is_constructor(method: FunctionNode) -> bool:
    """It calls the constructor of the base, or takes what no other special method takes."""
    calls = any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "__init__" for call in nodes_of(method, ast.Call)
    )
    return calls or (method.name != "__int__" and any(isinstance(node, ast.Assign) for node in method.body))


def _inside(method: FunctionNode) -> Iterator[FunctionNode]:
    """A function called forward of self that nothing in the method takes up."""
    for node in nodes(method):
        if node is not method and isinstance(node, FUNCTIONS) and node.name == "forward":
            names = [item.arg for item in node.args.args]
            if names[:1] == ["self"] and not any(True for _ in loads(method, "forward")):
                yield node


def _misspelled(found: ClassFacts, method: FunctionNode, meant: str, what: str) -> Finding:
    start = found.site(method).span[0]
    at = (
        found.file.text.index(f"def {method.name}", start) + 4
        if f"def {method.name}" in found.file.text[start:]
        else start
    )
    edit = TextEdit((at, at + len(method.name)), meant)
    return Finding(
        f"{method.name} is not {meant}: {what}",
        found.site(method).place._replace(span=(at, at + len(method.name))),
        fixes=(Fix(f"Rename to {meant}", "unsafe", (edit,)),),
    )
