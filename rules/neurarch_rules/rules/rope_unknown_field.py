from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope
from neurarch_rules.facts.fixes import rename_key
from neurarch_rules.facts.places import configs
from neurarch_rules.facts.spelling import closest
from neurarch_schemas.config.rope import REQUIRED
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="rope-unknown-field",
    severity="warning",
    category="correctness",
    summary="A field of a RoPE block that is misspelt, or that its type does not read",
    needs=("rope_scaling", "rope_parameters"),
)

OTHERS = {
    "attn_factor": "vLLM multiplies the attention scale by it, transformers takes attention_factor instead",
    "extrapolation_factor": "vLLM blends interpolated and kept frequencies by it",
    "finetuned": "it was a note of the first YaRN models",
}
"""Fields of the same block that other engines read."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not config.is_native:
            continue
        for block in rope.blocks(context, config):
            has_type = "rope_type" in block.values or "type" in block.values
            if not has_type or block.rope_type not in (*REQUIRED, "default"):
                continue
            known = {*REQUIRED.get(block.rope_type, ()), *rope.OPTIONAL.get(block.rope_type, ()), *rope.COMMON}
            for name, value in block.values.items():
                if name in known or value is None:
                    continue
                pointer = join_pointer(block.pointer, name)
                guess = closest(name, (item for item in rope.FIELDS if item not in block.values))
                if guess is not None:
                    fixes = rename_key(context.analysis, pointer, guess, f"rename to {guess}")
                    message = f"unknown RoPE field {name} (did you mean {guess}?): it is not read"
                    yield Finding(message, block.place(name, "key"), fixes=fixes)
                elif name in rope.FIELDS:
                    message = f"RoPE type {block.rope_type} does not read {name}: it has no effect"
                    yield Finding(message, block.place(name, "key"), tags=("unnecessary",), severity="info")
                elif name in OTHERS:
                    message = f"transformers does not read {name}; {OTHERS[name]}"
                    yield Finding(message, block.place(name, "key"), severity="info")
