from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, written
from neurarch_rules.facts.sources import records
from neurarch_rules.facts.words import either, quoted
from neurarch_schemas.catalogue.load import ConfigType
from neurarch_schemas.config.check_types import accepts, describe
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="wrong-type",
    severity="error",
    category="correctness",
    summary="A value of the wrong type for a known key",
    about="key",
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
    "problem_type",
)
"""Keys that rules of their own look at, or that transformers converts."""
ROPE: dict[str, Mapping[str, Any]] = {
    "rope_scaling": {"type": ["object", "null"]},
}
"""The older spelling that every class with RoPE converts."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        known = records(config)
        if not known:
            continue
        plain = known[0].plain_types
        for key, value in written(context.analysis, config).items():
            if type(value) in plain.get(key, ()) or key in ELSEWHERE:
                continue
            if key in config.nested:
                if not isinstance(value, dict | None):
                    yield Finding(
                        f"{key} must be an object with the settings of that part, not {quoted(value)}: transformers "
                        "refuses the file",
                        Place(join_pointer(config.pointer, key)),
                    )
                continue
            schema = next((found for record in known if (found := _schema(record, key)) is not None), None)
            if schema is None or accepts(schema, value):
                continue
            kinds = _kinds(schema)
            pointer = join_pointer(config.pointer, key)
            if key != "rope_scaling" and not any(record.checks(key) for record in known):
                yield Finding(
                    f"{key} should be {describe(schema)}, not {quoted(value)}: {_kept(value, kinds)}",
                    Place(pointer),
                    fixes=_fixes(context, pointer, key, value, schema),
                    severity=_severity(context, known[0].canonical(key), value, kinds),
                )
                continue
            is_old = versions.excludes(context, versions.V5)
            wanted = (
                either([WORDS[kind] for kind in kinds if kind != "null"]) if _is_plain(schema) else describe(schema)
            )
            yield Finding(
                f"{key} must be {wanted}, not {quoted(value)}: "
                + ("transformers 5 refuses the file" if is_old else "transformers refuses the file"),
                Place(pointer),
                fixes=_fixes(context, pointer, key, value, schema),
                severity="warning" if is_old or (value is None and key not in SIZES) else None,
            )


def _kept(value: JSONValue, kinds: list[str]) -> str:
    """What becomes of a value that the base class takes unchecked."""
    if "boolean" in kinds:
        return f"transformers keeps it, and it counts as {'true' if value else 'false'}"
    return "transformers keeps it unchecked" + (", and fails where it counts with it" if _counts(kinds) else "")


def _counts(kinds: list[str]) -> bool:
    return "integer" in kinds or "number" in kinds


def _severity(context: Context, name: str, value: JSONValue, kinds: list[str]) -> Severity | None:
    """An error where nothing is built; a warning where it does something else than it says: "no" counts as true."""
    if name in context.analysis.built.keys:
        return None
    return "warning" if _counts(kinds) or ("boolean" in kinds and value not in (0, 1)) else "info"


def _schema(record: ConfigType, key: str) -> Mapping[str, Any] | None:
    """The JSON Schema of a key's value; None where anything goes."""
    found = record.properties.get(record.canonical(key))
    if found is None and "rope_parameters" in record.properties:
        return ROPE.get(key)
    return found


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", ())
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _is_plain(schema: Mapping[str, Any]) -> bool:
    """Nothing but types, so that naming them says it all."""
    return "type" in schema and not {"enum", "anyOf", "items", "x-fraction"} & schema.keys()


def _fixes(context: Context, pointer: str, key: str, value: JSONValue, schema: Mapping[str, Any]) -> tuple[Fix, ...]:
    """The same value in the right type, where there is exactly one way to read it."""
    meant: JSONValue = None
    kinds = _kinds(schema)
    if type(value) is int and "x-fraction" in schema and abs(value) < 1 << 53:
        meant = float(value)
    elif isinstance(value, str):
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
