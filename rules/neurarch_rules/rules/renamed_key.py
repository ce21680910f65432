from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.allowed import requirement
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.fixes import rename_key
from neurarch_rules.facts.keys import partner, unread
from neurarch_rules.facts.places import as_written, configs, related, shown_name
from neurarch_rules.facts.quantization import Quantization, quantization
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
    block = quantization(context.analysis)
    if block is not None:
        yield from _in_block(context, block)


def _in_block(context: Context, block: Quantization) -> Iterator[Finding]:
    """Names that only the tool which wrote the block, and some engines, know."""
    for key, other in facts("quantization_values")["other_names"].get(block.method, {}).items():
        value, name = block.values.get(key), other["name"]
        if value is None or requirement(value, facts("quantization_values")["methods"][block.method].get(name, {})):
            continue  # another name does not help
        if name in block.values:
            if block.values[name] != value:
                yield Finding(
                    f"{key} {quoted(value)} differs from {name} {quoted(block.values[name])}: transformers reads "
                    f"{name}, vLLM {key}, and one of them takes the weights for what they are not",
                    block.place(key),
                    (Related(block.place(name), f"{name} is {quoted(block.values[name])}"),),
                    severity="warning",
                )
            continue
        pointer = join_pointer(block.pointer, key)
        is_same = value == other["default"]
        yield Finding(
            f"transformers does not read {key}; its key is {name}, and the default {other['default']}"
            + (", which happens to be the same, is used" if is_same else f" is used for weights packed with {value}"),
            Place(pointer, on="key"),
            fixes=rename_key(context.analysis, pointer, name, f"rename to {name}"),
            severity=None if is_same else "warning",
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
