from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import rename_key
from neurarch_rules.facts.keys import partner, unread
from neurarch_rules.facts.places import as_written, configs, related, shown_name
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="renamed-key",
    severity="info",
    category="correctness",
    summary="A key that other families use for this; this class reads another name",
    aliases=("synonym-conflict",),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        record = config_type(config)
        if record is None:
            continue
        for key, value in unread(context, config):
            name = partner(record, key)
            if name is None or value is None:
                continue
            setting = as_written(config, name)
            pointer = join_pointer(config.pointer, key)
            if setting is not None and setting.pointer is not None:
                if setting.value != value:
                    shown = shown_name(setting.pointer)
                    yield Finding(
                        f"{key} {quoted(value)} differs from {shown} {quoted(setting.value)}: transformers reads "
                        f"{shown}, some "
                        f"engines {key}",
                        Place(pointer),
                        (related(config, name),),
                    )
            else:
                effective = _effective(config, name)
                what = f"the default {quoted(effective)}" if effective is not None else "its own default"
                what += ", which happens to be the same," if effective == value else ""
                yield Finding(
                    f"{config.model_type} does not read {key}; its key is {name}, and {what} is used",
                    Place(pointer, on="key"),
                    (related(config, name),),
                    rename_key(context.analysis, pointer, name, f"rename to {name}", "unsafe"),
                )
        for conflict in config.conflicts:
            used, unused = _sides(config, conflict.name, conflict.first, conflict.second)
            yield Finding(
                f"{shown_name(unused)} and {shown_name(used)} are two names of one key with different values: "
                f"{shown_name(used)} is used",
                Place(unused),
                (related(config, conflict.name),),
            )


def _effective(config: ModelConfig, name: str) -> JSONValue:
    if name in ("partial_rotary_factor", "rope_theta"):
        block = config.get("rope_parameters")
        if isinstance(block, dict) and name in block:
            return block[name]
        if name == "partial_rotary_factor":
            return config.get(name, 1.0)
    return config.get(name)


def _sides(config: ModelConfig, name: str, first: str, second: str) -> tuple[str, str]:
    """(the pointer whose value is used, the other one)."""
    setting = as_written(config, name)
    return (first, second) if setting is not None and setting.pointer == first else (second, first)
