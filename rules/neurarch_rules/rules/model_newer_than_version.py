from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope, versions
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.places import configs
from neurarch_rules.facts.quantization import quantization
from neurarch_rules.facts.words import quoted
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
    "rope_types": ("RoPE type", "that release refuses the block"),
    "quantization_methods": ("quantization method", "that release refuses it, or loads packed weights as they are"),
}


def check(context: Context) -> Iterator[Finding]:
    stated, config = versions.stated(context), context.analysis.config
    if stated is None or config is None or not config.is_native:
        return
    data = context.analysis.document.data
    if not isinstance(data, dict) or data.get("auto_map"):
        return
    yield from _newer(context, stated, "model_types", data.get("model_type"), "/model_type")
    for part in configs(context):
        for block in rope.blocks(context, part) if part.model_type not in OWN_ROPE else ():
            key = "rope_type" if "rope_type" in block.values else "type"
            pointer = join_pointer(block.pointer, key)
            yield from _newer(context, stated, "rope_types", block.values.get(key), pointer)
    block_of = quantization(context.analysis)
    if block_of is not None:
        pointer = join_pointer(block_of.pointer, "quant_method")
        yield from _newer(context, stated, "quantization_methods", block_of.method, pointer)


def _newer(context: Context, stated: str, table: str, name: object, pointer: str) -> Iterator[Finding]:
    first = facts("releases")[table].get(name) if isinstance(name, str) else None
    release = versions.parse(first)
    if release is None or not versions.excludes(context, (release, None)):
        return
    what, effect = EFFECTS[table]
    yield Finding(
        f"the {what} {quoted(name)} came with transformers {first}, and the workspace names {stated}: {effect}; "
        f"require transformers>={first}",
        Place(pointer),
    )
