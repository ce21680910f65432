from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, FunctionNode, PythonFile, python_file
from neurarch_schemas.documents.python_nodes import nodes_of

RULE = RuleInfo(
    name="init-weights-unused",
    severity="warning",
    category="training",
    summary="A module defines how its weights are initialized, and nothing calls it",
    reads=("python",),
    needs=("def _init", "def __init_", "def _reset", "def _initialize"),
)
NAMES = frozenset(
    ("_init_weights", "_init_weight", "_initialize_weights", "_init_parameters", "_init_params", "_reset_parameters")
)
IN_PLACE = ("normal_", "uniform_", "zero_", "fill_", "constant_", "zeros_", "ones_", "trunc_normal_", "copy_")


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    if any(name.startswith("transformers.") or name.endswith("PreTrainedModel") for name in file.imports.values()):
        return  # a model around the module may look for the method by its name
    for found in file.modules:
        for name in sorted(NAMES & found.methods.keys()):
            method = found.methods[name]
            if found.is_closed and _initializes(file, method) and not _is_mentioned(file, name):
                yield _finding(found, method)


def _initializes(file: PythonFile, method: FunctionNode) -> bool:
    return any(
        (file.qualified(call.func) or "").startswith("torch.nn.init.") or getattr(call.func, "attr", "") in IN_PLACE
        for call in nodes_of(method, ast.Call)
    )


def _is_mentioned(file: PythonFile, name: str) -> bool:
    """Anything but definitions names it: code, a text, a comment that tells callers to apply it."""
    everywhere = len(re.findall(rf"\b{name}\b", file.text))
    return everywhere > len(re.findall(rf"\bdef {name}\b", file.text))


def _finding(found: ClassFacts, method: FunctionNode) -> Finding:
    takes = len(method.args.args) > 1
    call = f"self.apply(self.{method.name})" if takes else f"self.{method.name}()"
    start = found.site(method).span[0]
    at = found.file.text.index(method.name, start)
    return Finding(
        f"nothing calls {method.name}: {found.name} starts from torch's default initialization; call {call} at the end "
        "of __init__",
        found.site(method).place._replace(span=(at, at + len(method.name))),
    )
