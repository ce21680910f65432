from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope, versions
from neurarch_rules.facts.fixes import remove, rename_key
from neurarch_rules.facts.places import configs
from neurarch_rules.facts.words import quoted
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="rope-legacy-key",
    severity="info",
    category="hygiene",
    summary='A RoPE block spells its type with the old key "type"',
    needs=("rope_scaling", "rope_parameters"),
)

SINCE = ((4, 45), None)
"""``rope_type`` came with transformers 4.43; 4.45 to 4.4x warned about ``type`` as an unrecognised key."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not config.is_native:
            continue
        for block in rope.blocks(context, config):
            value = block.values.get("type")
            if not isinstance(value, str) or versions.excludes(context, SINCE):
                continue
            pointer = join_pointer(block.pointer, "type")
            if block.values.get("rope_type") is None:
                message = (
                    f'{quoted(value)} stands under the old key "type": transformers reads it, '
                    "some 4.4x releases and engines "
                    'only "rope_type"'
                )
                fixes = rename_key(context.analysis, pointer, "rope_type", "rename to rope_type", "unsafe")
                yield Finding(message, block.place("type", "key"), fixes=fixes, tags=("deprecated",))
            elif block.values.get("rope_type") == value:
                fixes = remove(context.analysis, pointer, 'remove "type", rope_type says the same', "unsafe")
                message = 'the old key "type" repeats rope_type'
                yield Finding(message, block.place("type", "key"), fixes=fixes, severity="hint", tags=("unnecessary",))
