from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import either, quoted
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="rope-unknown-type",
    severity="error",
    category="correctness",
    summary="A RoPE type that transformers does not have, or two that disagree",
    needs=("rope_scaling", "rope_parameters"),
)

LONG_ONLY = ("default", "longrope")
CONVERTED = {"mrope": "default", "su": "longrope"}
"""Old names that the families which used them convert while loading."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for block in rope.blocks(context, config):
            yield from _disagreement(block)
            name = "rope_type" if "rope_type" in block.values else "type"
            value = block.values.get(name)
            if value is None or not config.is_native:
                continue
            only = LONG_ONLY if config.model_type in ("phi3", "phi4_multimodal") else None
            if only and isinstance(value, str) and value in _types() and value not in only:
                yield Finding(
                    f"{config.model_type} has no RoPE type {quoted(value)}: it reads every block as longrope and needs "
                    "its short_factor and long_factor",
                    block.place(name),
                )
            if _is_known(config, block, value):
                continue
            types = _types()
            guess = closest(value, types) if isinstance(value, str) else None
            pointer = join_pointer(block.pointer, name)
            yield Finding(
                f"transformers has no RoPE type {quoted(value)}, so the model cannot be built"
                + (
                    f": did you mean {quoted(guess)}?"
                    if guess
                    else f"; it has {either([quoted(item) for item in types])}"
                ),
                block.place(name),
                fixes=replace_value(context.analysis, pointer, guess, f'{name} = "{guess}"', "unsafe") if guess else (),
            )


def _disagreement(block: rope.Block) -> Iterator[Finding]:
    old, new = block.values.get("type"), block.values.get("rope_type")
    if isinstance(old, str) and isinstance(new, str) and CONVERTED.get(old, old) != CONVERTED.get(new, new):
        yield Finding(
            f"rope_type says {quoted(new)} and type says {quoted(old)}: transformers follows rope_type, other "
            "engines type",
            block.place("rope_type"),
            (Related(block.place("type"), f"type is {quoted(old)}"),),
            severity="warning",
        )


def _types() -> list[str]:
    from neurarch_schemas.catalogue.load import enumerations

    return [str(name) for name in enumerations()["rope_types"]]


def _is_known(config: ModelConfig, block: rope.Block, value: object) -> bool:
    """Known to transformers, or converted into a known type by this family's config class."""
    if value in _types():
        return True
    if block.label is not None or not isinstance(value, str):
        return False
    for owner in (config, *config.nested.values()):
        effective = owner.get("rope_parameters")
        if isinstance(effective, dict) and effective.get("rope_type") == CONVERTED.get(value):
            return True
    return False
