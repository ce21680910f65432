from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.geometry import Named
from neurarch_rules.facts.places import as_written, configs, integer, place, related, whole_number
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.words import listed
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="feature-layer-out-of-range",
    severity="error",
    category="correctness",
    summary="States of a layer or stage are asked for that the tower or backbone does not have",
    needs=("vision_feature_layer", "_indexes", "hook_ids", "out_indices", "out_features"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not config.is_native:
            continue
        for entry in facts("stage_choices")["keys"]:
            owner = config.nested.get(entry["in"]) if "in" in entry else config
            depth = None if owner is None or not _has(config, entry.get("where")) else _depth(owner)
            if owner is None or depth is None or (owner is config and are_defaults(config, entry["key"], depth.key)):
                continue
            yield from _choice(config, owner, entry["key"], depth, entry.get("states", 0), entry.get("severity"))
        yield from _names(config)


def _has(config: ModelConfig, key: str | None) -> bool:
    """The class checks the key only where it has this one too."""
    record = config_type(config)
    return key is None or (record is not None and key in (*record.properties, *record.attributes))


def _depth(owner: ModelConfig) -> Named | None:
    """How many layers there are, or stages where a list says how deep each is."""
    for key in ("depths", "hidden_sizes"):
        value = owner.get(key)
        if isinstance(value, list) and value:
            return Named(key, len(value))
    for key in facts("stage_choices")["layers"]:
        count = integer(owner, key)
        if count is not None and count > 0:
            return Named(key, count)
    return None


def _choice(
    config: ModelConfig, owner: ModelConfig, key: str, depth: Named, states: int, severity: Severity | None
) -> Iterator[Finding]:
    setting = as_written(config, key)
    if setting is None or setting.pointer is None:
        return
    values = setting.value if isinstance(setting.value, list) else [setting.value]
    numbers = [number for item in values if (number := whole_number(item)) is not None]
    count = depth.value + states
    beyond = [number for number in numbers if not -count <= number < count]
    if not beyond:
        return
    unit = "stages" if depth.key in ("depths", "hidden_sizes") else "layers"
    yield Finding(
        f"{key} asks for {listed(beyond)}, but there are {depth.value} {unit}"
        + (f" (0 to {depth.value}, the embedding counted first)" if states else f" (0 to {depth.value - 1})")
        + (": the model cannot be used" if severity is None else ": it has no effect"),
        place(config, key),
        (related(owner, depth.key, f"{depth.key} gives {depth.value} {unit}"),),
        severity=severity,
    )


def _names(config: ModelConfig) -> Iterator[Finding]:
    """Stages of a backbone by name: stem, stage1, stage2 ..."""
    setting, depth = as_written(config, "out_features"), _depth(config)
    if setting is None or setting.pointer is None or not isinstance(setting.value, list) or depth is None:
        return
    known = config.get("stage_names")
    names = known if isinstance(known, list) and known else ["stem", *(f"stage{at + 1}" for at in range(depth.value))]
    unknown = [name for name in setting.value if isinstance(name, str) and name not in names]
    if unknown and all(name == "stem" or name.startswith("stage") for name in setting.value if isinstance(name, str)):
        yield Finding(
            f"out_features names {listed(unknown)}, but the backbone has {names[0]} to {names[-1]}: transformers "
            "refuses the file",
            place(config, "out_features"),
            (related(config, depth.key, f"{depth.key} gives {depth.value} stages"),),
        )
