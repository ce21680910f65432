from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.adapter import base_file
from neurarch_rules.facts.words import quoted
from neurarch_schemas.documents.json_value import JSONValue

RULE = RuleInfo(
    name="adapter-base-local-path",
    severity="warning",
    category="hygiene",
    summary="base_model_name_or_path is missing or a folder of another machine: the adapter loads nowhere else",
    reads=("adapter_config",),
)

LOCAL = re.compile(r"(/|~|\.{1,2}[/\\]|[A-Za-z]:[/\\])")
"""How a path of a file system starts; names on the Hub are owner/model."""


def built_by_hand(data: Mapping[str, JSONValue]) -> bool:
    """peft noted a base class outside transformers (diffusers, a script): the caller makes it, none is looked up."""
    mapping = data.get("auto_mapping")
    library = mapping.get("parent_library") if isinstance(mapping, Mapping) else None
    return isinstance(library, str) and not library.startswith("transformers")


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if not isinstance(data, dict) or "base_model_name_or_path" not in data or base_file(context.analysis) is not None:
        return
    name = data["base_model_name_or_path"]
    if name is None or name == "":
        if built_by_hand(data):
            return
        yield Finding(
            "the base model is not named: AutoPeftModel and servers of adapters cannot load it",
            Place("/base_model_name_or_path"),
        )
    elif isinstance(name, str) and LOCAL.match(name):
        yield Finding(
            f"{quoted(name)} is a folder of the machine the adapter was trained on and is not here: name the model as "
            "it is published",
            Place("/base_model_name_or_path"),
            severity="info",
        )
