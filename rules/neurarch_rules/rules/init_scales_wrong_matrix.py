from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, PythonFile, python_file, self_attribute
from neurarch_rules.facts.python_parameters import NameTest, name_tests
from neurarch_schemas.documents.python_nodes import nodes

RULE = RuleInfo(
    name="init-scales-wrong-matrix",
    severity="info",
    category="training",
    summary="The depth-scaled initialization goes to the gate, not to the matrix that writes to the residual",
    reads=("python",),
    needs=("named_parameters",),
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        for test in name_tests(found):
            attribute = test.text.removesuffix(".weight").rpartition(".")[2]
            if test.method != "endswith" or not test.text.endswith(".weight") or not _scales_by_depth(test):
                continue
            output = _written_by(file, attribute)
            if output is not None:
                name = test.text.replace(attribute, output)
                yield Finding(
                    f"{attribute} feeds {output}, it does not write to the residual stream: the 1/sqrt(2 * layers) "
                    f'scaling is meant for the output projection, "{name}"',
                    test.site.place,
                )


def _scales_by_depth(test: NameTest) -> bool:
    """The branch initializes with a standard deviation divided by a square root."""
    text = "".join(ast.unparse(statement) for statement in test.body)
    return "init." in text and ("sqrt(" in text or "** 0.5" in text or "** -0.5" in text)


def _written_by(file: PythonFile, attribute: str) -> str | None:
    """The layer whose output a class returns while ``attribute`` only feeds it; None unless all classes agree."""
    owners = [found for found in file.modules if attribute in found.assigned and "forward" in found.methods]
    outputs = {_output(found, attribute) for found in owners}
    return outputs.pop() if len(outputs) == 1 else None


def _output(found: ClassFacts, attribute: str) -> str | None:
    forward = found.methods["forward"]
    returns = [node for node in nodes(forward) if isinstance(node, ast.Return) and node.value is not None]
    if len(returns) != 1 or returns[0].value is None:
        return None
    value = returns[0].value
    while isinstance(value, ast.Call) and self_attribute(value.func) is not None and _is_dropout(found, value):
        value = value.args[0]
    if not isinstance(value, ast.Call) or len(value.args) != 1:
        return None
    output = self_attribute(value.func)
    if output is None or output == attribute or output not in found.assigned:
        return None
    feeds = any(isinstance(node, ast.Call) and self_attribute(node.func) == attribute for node in nodes(value.args[0]))
    return output if feeds else None


def _is_dropout(found: ClassFacts, call: ast.Call) -> bool:
    values = found.assigned.get(self_attribute(call.func) or "", [])
    return len(call.args) == 1 and any(
        isinstance(value, ast.Call) and (found.file.layer(value) or "").startswith("Dropout") for value in values
    )
