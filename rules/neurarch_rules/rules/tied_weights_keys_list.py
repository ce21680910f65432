from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.python_file import ClassFacts, PythonFile, assignments, python_file
from neurarch_schemas.documents.python_nodes import nodes_of

RULE = RuleInfo(
    name="tied-weights-keys-list",
    severity="warning",
    category="correctness",
    summary="_tied_weights_keys is a list, which transformers 5 takes for a dict and fails on",
    reads=("python",),
    needs=("_tied_weights_keys",),
)

_KEYS = "_tied_weights_keys"
_MESSAGE = (
    "transformers 5 wants a dict from each tied weight to the one it shares: with a list, as 4.x has it, building the "
    "model with tie_word_embeddings raises AttributeError ('list' object has no attribute 'keys'), and so does saving "
    'it; write {"lm_head.weight": "...embed_tokens.weight"}'
)
_READER = "get_expanded_tied_weights_keys"
"""The method of PreTrainedModel that asks for ``keys()``; a class with its own is left alone."""


def check(context: Context) -> Iterator[Finding]:
    if versions.excludes(context, versions.V5):
        return
    file = python_file(context)
    if _is_set_elsewhere(file):
        return
    for found in file.classes.values():
        if not _is_of_transformers(found) or found.method(_READER) is not None:
            continue
        for statement in found.node.body:
            for target, value in assignments(statement):
                if isinstance(target, ast.Name) and target.id == _KEYS and isinstance(value, ast.List | ast.Tuple):
                    yield Finding(_MESSAGE, found.site(value).place)


def _is_of_transformers(found: ClassFacts) -> bool:
    return any((base or "").startswith("transformers.") for each in found.lineage for base in each.bases)


def _is_set_elsewhere(file: PythonFile) -> bool:
    """On the class or the instance, as code that serves both releases does."""
    return any(
        node.attr == _KEYS and isinstance(node.ctx, ast.Store)
        for placed in file.units
        for statement in placed.unit.body
        for node in nodes_of(statement, ast.Attribute)
    )
