from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, written
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.words import either, quoted
from neurarch_schemas.catalogue.load import ConfigType
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="wrong-type",
    severity="error",
    category="correctness",
    summary="A value of the wrong type for a known key",
)

WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a string",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
"""Nothing can be built without these; older releases take null elsewhere as "not given"."""
ELSEWHERE = (
    "dtype",
    "torch_dtype",
    "id2label",
    "label2id",
    "num_labels",
    "auto_map",
    "quantization_config",
    "architectures",
)
"""Keys that rules of their own look at, or that transformers converts."""
ROPE: dict[str, list[str]] = {
    "rope_scaling": ["object", "null"],
    "rope_theta": ["number", "null"],
    "partial_rotary_factor": ["number", "null"],
}
"""Older spellings that every class with RoPE converts."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        record = config_type(config)
        if record is None:
            continue
        for key, value in written(context.analysis, config).items():
            kinds = _kinds(record, key)
            if not kinds or key in ELSEWHERE or key in config.nested or _fits(value, kinds):
                continue
            pointer = join_pointer(config.pointer, key)
            is_old = versions.excludes(context, versions.V5)
            wanted = either([WORDS[kind] for kind in kinds if kind != "null"])
            yield Finding(
                f"{key} must be {wanted}, not {quoted(value)}: "
                + ("transformers 5 refuses the file" if is_old else "transformers refuses the file"),
                Place(pointer),
                fixes=_fixes(context, pointer, key, value, kinds),
                severity="warning" if is_old or (value is None and key not in SIZES) else None,
            )


def _kinds(record: ConfigType, key: str) -> list[str]:
    """The JSON types a key may have; [] where anything goes."""
    kinds = record.properties.get(record.canonical(key), {}).get("type")
    if kinds is None and "rope_parameters" in record.properties:
        kinds = ROPE.get(key)
    return [kinds] if isinstance(kinds, str) else list(kinds or ())


def _fits(value: JSONValue, kinds: list[str]) -> bool:
    if value is None:
        return "null" in kinds
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, int):
        return "integer" in kinds or "number" in kinds
    if isinstance(value, float):
        return "number" in kinds
    if isinstance(value, str):
        return "string" in kinds
    return ("array" if isinstance(value, list) else "object") in kinds


def _fixes(context: Context, pointer: str, key: str, value: JSONValue, kinds: list[str]) -> tuple[Fix, ...]:
    """The same value in the right type, where there is exactly one way to read it."""
    meant: JSONValue = None
    if isinstance(value, str):
        meant = _read(value, kinds)
    elif isinstance(value, float) and value.is_integer() and "integer" in kinds:
        meant = int(value)
    elif isinstance(value, int) and not isinstance(value, bool) and kinds == ["boolean"] and value in (0, 1):
        meant = bool(value)
    if meant is None:
        return ()
    return replace_value(context.analysis, pointer, meant, f"{key} = {quoted(meant)}")


def _read(text: str, kinds: list[str]) -> JSONValue:
    stripped = text.strip()
    if "boolean" in kinds and stripped.lower() in ("true", "false"):
        return stripped.lower() == "true"
    try:
        if "integer" in kinds:
            return int(stripped)
        if "number" in kinds:
            return float(stripped)
    except ValueError:
        return None
    return None
