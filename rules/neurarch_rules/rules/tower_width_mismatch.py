from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.places import configs, describe, integer, is_written, place, related
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="tower-width-mismatch",
    severity="error",
    category="correctness",
    summary="One part of a composite model hands over another width than the next part takes",
    needs=("vision_config", "text_config", "audio_config", "decoder"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for pair in facts("tower_widths")["pairs"]:
            if not config.is_native or config.model_type not in pair["types"]:
                continue
            left, right = _part(config, pair["left"][:-1]), _part(config, pair["right"][:-1])
            if left is None or right is None:
                continue
            left_key, right_key = pair["left"][-1], pair["right"][-1]
            gives, takes = integer(left, left_key), integer(right, right_key)
            if gives is None or takes is None or gives == takes:
                continue
            if not is_written(left, left_key):
                continue
            if are_defaults(left, left_key) and are_defaults(right, right_key):
                continue
            yield Finding(
                f"{describe(left, left_key)}, but {describe(right, right_key)}: {pair['what']}, so they must be equal",
                place(left, left_key),
                (related(right, right_key),),
            )


def _part(config: ModelConfig, keys: list[str]) -> ModelConfig | None:
    for key in keys:
        found = config.nested.get(key)
        if found is None:
            return None
        config = found
    return config
