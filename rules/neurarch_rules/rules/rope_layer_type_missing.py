from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope
from neurarch_rules.facts.layers import layer_types
from neurarch_rules.facts.places import configs, related, written
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="rope-layer-type-missing",
    severity="error",
    category="correctness",
    summary="RoPE parameters per layer type that leave out a type the layers use",
    needs=("rope_scaling", "rope_parameters"),
)

ROTATED = ("full_attention", "sliding_attention", "chunked_attention")


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not config.is_native:
            continue
        found = [block for block in rope.blocks(context, config) if block.label is not None]
        if not found:
            continue
        labels = {block.label for block in found} | _unrotated(context, config, found[0].key)
        if not labels & set(ROTATED):
            continue
        pointer = join_pointer(config.pointer, found[0].key)
        for kind in layer_types(config):
            if kind in ROTATED and kind not in labels:
                yield Finding(
                    f"{found[0].key} has parameters for {', '.join(sorted(filter(None, labels)))}, but the layers "
                    "also use "
                    f"{kind}: its rotary embedding cannot be built",
                    Place(join_pointer(pointer, kind)),
                    (related(config, "layer_types", f"layer_types has {kind}"),),
                )


def _unrotated(context: Context, config: ModelConfig, key: str) -> set[str | None]:
    """Layer types whose parameters are null: they are left without a rotation on purpose."""
    value = written(context.analysis, config).get(key)
    return {label for label, part in value.items() if part is None} if isinstance(value, dict) else set()
