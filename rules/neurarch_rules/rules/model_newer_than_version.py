from __future__ import annotations

from collections.abc import Iterator, Mapping

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope, versions
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.places import configs
from neurarch_rules.facts.quantization import quantization
from neurarch_rules.facts.words import quoted
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="model-newer-than-version",
    severity="warning",
    category="correctness",
    summary="A model type, RoPE type or quantization method that the named transformers release does not have",
)

OWN_ROPE = ("phi3",)
"""Families that had types of their own before there was a table of them."""
EFFECTS = {
    "model_types": ("model type", "that release does not recognize the architecture"),
    "rope_types": ("RoPE type", "that release refuses the block, or leaves positions unscaled"),
    "quantization_methods": ("quantization method", "that release refuses it, or loads packed weights as they are"),
}


def check(context: Context) -> Iterator[Finding]:
    config, data = context.analysis.config, context.analysis.document.data
    if config is None or not config.is_native or not isinstance(data, dict) or data.get("auto_map"):
        return
    for table, name, pointer in _names(context, data):
        first = facts("releases")[table].get(name) if isinstance(name, str) else None
        release = versions.parse(first)
        if release is None or not versions.excludes(context, (release, None)):
            continue
        what, effect = EFFECTS[table]
        yield Finding(
            f"the {what} {quoted(name)} came with transformers {first}, and the workspace names "
            f"{versions.stated(context)}: {effect}; require transformers>={first}",
            Place(pointer),
        )


def _names(context: Context, data: Mapping[str, JSONValue]) -> Iterator[tuple[str, object, str]]:
    """(table, name, pointer) of what releases know by name."""
    yield "model_types", data.get("model_type"), "/model_type"
    for part in configs(context):
        for block in rope.blocks(context, part) if part.model_type not in OWN_ROPE else ():
            key = "rope_type" if "rope_type" in block.values else "type"
            yield "rope_types", block.values.get(key), join_pointer(block.pointer, key)
    block_of = quantization(context.analysis)
    if block_of is not None:
        yield "quantization_methods", block_of.method, join_pointer(block_of.pointer, "quant_method")
