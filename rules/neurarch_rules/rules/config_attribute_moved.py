from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.python_configs import held_type
from neurarch_rules.facts.python_file import Site, python_file
from neurarch_rules.facts.python_flow import scope_of
from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

RULE = RuleInfo(
    name="config-attribute-moved",
    severity="warning",
    category="correctness",
    summary="An attribute of a transformers config is read that transformers 5 no longer has",
    reads=("python",),
    needs=("rope_theta",),
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    if versions.excludes(context, versions.V5):
        return
    for placed in file.units:
        if "rope_theta" not in placed.unit.text:
            continue
        for statement in placed.unit.body:
            for node in nodes_of(statement, ast.Attribute):
                if node.attr != "rope_theta" or not isinstance(node.ctx, ast.Load):
                    continue
                model_type = held_type(file, placed, node.value)
                known = None if model_type is None else config_type(model_type)
                if known is None or "rope_parameters" not in known.properties or "rope_theta" in known.properties:
                    continue
                if not _guards(scope_of(file, placed, node).function or statement):
                    held = ast.unparse(node.value)
                    yield Finding(
                        f"{known.config_class} has no rope_theta in transformers 5 (AttributeError): it moved to "
                        f'{held}.rope_parameters["rope_theta"]; keep a fallback if 4.x must work too',
                        Site(placed, node).place,
                    )


def _guards(function: ast.AST) -> bool:
    """The code knows that the attribute may be missing."""
    return any(
        isinstance(node, ast.Try)
        or (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("hasattr", "getattr"))
        or (isinstance(node, ast.Attribute) and node.attr in ("rope_parameters", "__version__"))
        for node in nodes(function)
    )
