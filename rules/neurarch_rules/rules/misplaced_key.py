from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope
from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.fixes import combined
from neurarch_rules.facts.keys import ROPE_KEYS, keys_any_may_have, keys_of_all_types, unread
from neurarch_rules.facts.places import configs, written
from neurarch_rules.facts.quantization import quantization
from neurarch_rules.facts.sources import config_type, records
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.language_model import LANGUAGE_CONFIGS, LANGUAGE_MODELS
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_edits import move_pair
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="misplaced-key",
    severity="warning",
    category="correctness",
    summary="A key stands at a level where it is not read",
)

BLOCKS = {
    "quantization_config": (
        "load_in_4bit",
        "load_in_8bit",
        "bnb_4bit_compute_dtype",
        "bnb_4bit_quant_type",
        "quant_method",
    ),
    "rope_scaling": (
        "rope_type",
        "low_freq_factor",
        "high_freq_factor",
        "beta_fast",
        "beta_slow",
        "short_factor",
        "long_factor",
        "mrope_section",
    ),
}


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if config_type(config) is None:
            continue
        for key, value in unread(context, config):
            found = _in_nested(context, config, key, value) or _in_block(context, config, key)
            found = found or _from_above(context, config, key, value)
            if found is not None:
                yield found
            elif key in LANGUAGE_MODELS and isinstance(value, dict) and key not in config.nested:
                yield from _foreign_object(config, key, value)
        yield from _inside_rope(context, config)
    yield from _inside_quantization(context)


def _in_nested(context: Context, config: ModelConfig, key: str, value: JSONValue) -> Finding | None:
    """A key of the text model beside its nested config."""
    for name, nested in config.nested.items():
        record = config_type(nested)
        inner = written(context.analysis, nested)
        if (
            record is None
            or name not in LANGUAGE_MODELS
            or nested.pointer == config.pointer
            or not inner
            or key in inner
        ):
            continue
        if not record.knows(key) or key.startswith("_") or value is None:
            continue
        if key == "rope_theta" and rope.gives_theta(nested):
            continue
        pointer = join_pointer(config.pointer, key)
        used = rope.rope_theta(nested) if key == "rope_theta" else nested.get(key)
        is_same = used == value
        uses = f"the text model uses its default, {quoted(used)}"
        return Finding(
            f"{key} is read inside {name}, not here: {uses}" + (", which happens to be the same" if is_same else ""),
            Place(pointer, on="key"),
            severity="info" if is_same else None,
            fixes=combined(
                f"move into {name}", "unsafe", move_pair(context.analysis.document, pointer, nested.pointer)
            ),
        )
    return None


def _from_above(context: Context, config: ModelConfig, key: str, value: JSONValue) -> Finding | None:
    """A key of the enclosing config, or of the text model, inside another nested config."""
    if not config.pointer or value is None or key in keys_any_may_have():
        return None
    for owner in configs(context):
        record = config_type(owner)
        if record is None or owner.pointer == config.pointer or not record.knows(key):
            continue
        if not config.pointer.startswith(owner.pointer + "/") or key in written(context.analysis, owner):
            continue
        pointer = join_pointer(config.pointer, key)
        target = owner.pointer
        level = f"in {target[1:]}" if target else "at the top level"
        return Finding(
            f"{key} is read {level}, not here: {quoted(owner.get(key))} is used",
            Place(pointer, on="key"),
            fixes=combined(f"move it {level}", "unsafe", move_pair(context.analysis.document, pointer, target)),
        )
    return None


def _in_block(context: Context, config: ModelConfig, key: str) -> Finding | None:
    """A field of a quantization or RoPE block that stands beside it."""
    for block, fields in BLOCKS.items():
        is_field = key in fields or (block == "quantization_config" and _fits_quantization(context, key))
        if is_field and (block != "quantization_config" or not config.pointer):
            pointer, target = join_pointer(config.pointer, key), join_pointer(config.pointer, block)
            return Finding(
                f"{key} is a field of {block}: outside it nothing reads it",
                Place(pointer, on="key"),
                fixes=combined(f"move into {block}", "unsafe", move_pair(context.analysis.document, pointer, target)),
            )
    return None


def _fits_quantization(context: Context, key: str) -> bool:
    """A field whose name is used for nothing else, and which the block of this file lacks."""
    block = quantization(context.analysis)
    if block is None or key in block.values or "_" not in key or key in keys_of_all_types():
        return False
    return key in fact_set("quantization_keys", "keys")


def _foreign_object(config: ModelConfig, key: str, value: dict[str, JSONValue]) -> Iterator[Finding]:
    if any(name in value for name in LANGUAGE_CONFIGS):
        return  # an outer level, which some repositories nest once more for their own code
    record = config_type(config)
    known = [name for name in value if record is not None and record.knows(name) and name != "model_type"]
    if len(known) >= 2:
        yield Finding(
            f"{config.model_type} has no {key}: {', '.join(known[:3])} and the rest are read from the level above, "
            "and their "
            "defaults are used",
            Place(join_pointer(config.pointer, key), on="key"),
        )


def _inside_rope(context: Context, config: ModelConfig) -> Iterator[Finding]:
    """A key of the config inside its RoPE block."""
    known = records(config)
    if not known:
        return
    data = written(context.analysis, config)
    for block in rope.blocks(context, config):
        for key in block.values:
            if key in rope.COMMON or key in ROPE_KEYS or key in data or key in rope.FIELDS:
                continue
            if not (any(record.knows(key) for record in known) or key in keys_any_may_have()):
                continue
            pointer = join_pointer(block.pointer, key)
            yield Finding(
                f"{key} is a key of the config, not of its RoPE block: {quoted(config.get(key))} is used",
                Place(pointer, on="key"),
                fixes=combined(
                    f"move out of {block.key}", "unsafe", move_pair(context.analysis.document, pointer, config.pointer)
                ),
            )


def _inside_quantization(context: Context) -> Iterator[Finding]:
    """A key of the config inside its quantization block."""
    block, config = quantization(context.analysis), context.analysis.config
    record = None if config is None else config_type(config)
    if block is None or config is None or record is None or block.pointer.count("/") != 1:
        return
    known, data = fact_set("quantization_keys", "keys"), written(context.analysis, config)
    for key in block.values:
        if key in known or key in data or not (record.knows(key) or key in keys_any_may_have()):
            continue
        pointer = join_pointer(block.pointer, key)
        yield Finding(
            f"{key} is a key of the config, not of its quantization block: nothing reads it here",
            Place(pointer, on="key"),
            fixes=combined("move out of the block", "unsafe", move_pair(context.analysis.document, pointer, "")),
        )
