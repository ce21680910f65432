"""``LlamaConfig(hidden_size=54, ...)`` in Python code: findings of a config.json, placed on the keyword arguments."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related

if TYPE_CHECKING:
    from neurarch_rules.engine.options import Options
    from neurarch_rules.facts.python_file import PythonFile, Site
    from neurarch_schemas.analysis import Analysis

LOOSE = frozenset(
    ("vocab_size", "pad_token_id", "bos_token_id", "eos_token_id", "torch_dtype", "dtype", "attn_implementation")
)
"""Keys whose value may be computed without making the rest uncertain."""
CATEGORIES = ("correctness", "training")
ELSEWHERE = frozenset(
    (
        "moe-no-aux-loss",
        "architectures-missing",
        "size-key-missing",
        "decoder-flag-missing",
        "unknown-model-type",
        "deep-attention-default-init",
    )
)
"""Rules about the file a config is published in; router-loss-not-computed reads the code instead."""
_MISSING = object()


def findings(analysis: Analysis, options: Options) -> Iterator[Finding]:
    """For each construction of a known config class with literal arguments; complete, as from a run of its own."""
    from neurarch_rules.facts.python_configs import transformers_type
    from neurarch_rules.facts.python_file import Site, has_stars, python_file

    if "Config(" not in analysis.document.text:
        return
    file = python_file(Context(analysis, options))
    for placed in file.units:
        for name, calls in placed.unit.calls.items():
            if not name.endswith("Config"):
                continue
            for call in calls:
                if not call.keywords or call.args or has_stars(call):
                    continue
                model_type = transformers_type(file, call.func)
                if model_type is not None:
                    yield from _of_call(file, Site(placed, call), call, model_type, options)


def _of_call(file: PythonFile, site: Site, call: ast.Call, model_type: str, options: Options) -> Iterator[Finding]:
    from neurarch_rules.engine.run import check
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.read import read_config
    from neurarch_schemas.documents.json_document import JsonDocument
    from neurarch_schemas.surroundings.folder import Folder

    values: dict[str, Any] = {"model_type": model_type}
    keywords: dict[str, ast.keyword] = {}
    loose: set[str] = set()
    for keyword in call.keywords:
        assert keyword.arg is not None
        value = _literal(file, keyword.value, 0)
        if value is _MISSING:
            if keyword.arg not in LOOSE:
                return
            loose.add(keyword.arg)
            continue
        values[keyword.arg] = value
        keywords[keyword.arg] = keyword
    try:
        document = JsonDocument.parse(json.dumps(values), "config.json")
    except (ValueError, RecursionError):
        return
    config = Analysis(document, "config", Folder(), read_config(document.data))
    for finding in check(config, options):
        key = _key(finding.place)
        if finding.category not in CATEGORIES or finding.rule in ELSEWHERE or finding.severity in ("info", "hint"):
            continue
        if any(_key(related.place) in loose or name in loose for related in finding.related for name in [key]):
            continue
        if finding.rule == "heads-indivisible" and _hidden_is_odd(values):
            key = "hidden_size"
        written = keywords.get(key or "")
        if written is None:
            written = next((keywords[k] for r in finding.related if (k := _key(r.place) or "") in keywords), None)
        if written is None:
            continue
        yield finding._replace(
            place=Place(None, site.at(written).span),
            related=tuple(
                Related(Place(None, site.at(keywords[k]).span), related.message)
                for related in finding.related
                if (k := _key(related.place) or "") in keywords
            ),
            fixes=(),
        )


def _hidden_is_odd(values: dict[str, Any]) -> bool:
    """Of a width and a number of heads that do not fit, the width is the unusual one."""
    hidden, heads = values.get("hidden_size"), values.get("num_attention_heads")
    if type(hidden) is not int or type(heads) is not int or heads <= 0:
        return type(hidden) is int and hidden % 8 != 0
    return hidden % 8 != 0 and heads & (heads - 1) == 0


def _key(place: Place) -> str | None:
    return place.pointer.split("/")[1] if place.pointer else None


def _literal(file: PythonFile, node: ast.expr, depth: int) -> Any:
    """The JSON value of an expression that is a literal or a name bound once to one at module level."""
    if isinstance(node, ast.Name) and depth == 0:
        from neurarch_rules.facts.python_file import assignments

        bound = [
            value
            for placed in file.units
            for each in placed.unit.parents
            for target, value in assignments(each)
            if isinstance(target, ast.Name) and target.id == node.id
        ]
        return _literal(file, bound[0], 1) if len(bound) == 1 and bound[0] is not None else _MISSING
    try:
        value = ast.literal_eval(node)
        return cast(Any, value) if isinstance(json.dumps(value), str) else _MISSING
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _MISSING
