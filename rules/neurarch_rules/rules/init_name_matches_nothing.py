from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, python_file
from neurarch_rules.facts.python_parameters import NameTest, name_tests
from neurarch_schemas.documents.python_nodes import nodes

RULE = RuleInfo(
    name="init-name-matches-nothing",
    severity="warning",
    category="training",
    summary="A loop over named_parameters() compares with a name no parameter has, so the branch never runs",
    reads=("python",),
    needs=("named_parameters", "named_modules"),
)


def check(context: Context) -> Iterator[Finding]:
    for found in python_file(context).modules:
        if not found.has_known_bases or _is_open(found):
            continue
        for test in name_tests(found):
            if test.method in ("==", "startswith") and test.of_parameters and test.text and _never(found, test):
                suffix = test.text
                how = "is named exactly" if test.method == "==" else "has a name that begins with"
                yield Finding(
                    f'no parameter {how} "{suffix}": named_parameters() gives full names such as '
                    f'"layers.0.{suffix}", so this branch never runs and the initialization is not applied; '
                    f'use name.endswith("{suffix}")',
                    test.site.place,
                    fixes=_fixes(test),
                )


def _fixes(test: NameTest) -> tuple[Fix, ...]:
    if not isinstance(test.site.node, ast.Compare) or "." not in test.text:
        return ()
    ending = f'{test.variable}.endswith("{test.text}")'
    return (test.site.replace(ending, "Compare the end of the name", "unsafe"),)


def _never(found: ClassFacts, test: NameTest) -> bool:
    """The first part of the name is no attribute of the module itself, nor of a model of the file derived from it."""
    first = test.text.partition(".")[0]
    models = [each for each in found.file.modules if found in each.lineage]
    names = {name for model in models for owner in model.lineage for name in owner.assigned}
    if test.method == "startswith" and first == test.text:
        return not any(name.startswith(first) for name in names)
    return first not in names


def _is_open(found: ClassFacts) -> bool:
    """Children may be registered under names the text does not show."""
    for node in nodes(found.node):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("add_module", "register_module", "register_parameter", "setattr", "__setattr__"):
                return True
    return False
