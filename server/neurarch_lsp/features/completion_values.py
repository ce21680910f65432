"""Values a key can take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from neurarch_schemas.catalogue import load as catalogue

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig

Scalar: TypeAlias = str | int | float | bool | None

COMMON_DTYPES = ("bfloat16", "float16", "float32", "float8_e4m3fn")
ENUMERATED = {
    "rope_type": "rope_types",
    "type": "rope_types",
    "quant_method": "quantization_methods",
    "attn_implementation": "attention_implementations",
    "_attn_implementation": "attention_implementations",
    "experts_implementation": "experts_implementations",
    "layer_types": "layer_types",
    "mlp_layer_types": "mlp_layer_types",
}
DTYPE_KEYS = frozenset({"dtype", "torch_dtype", "bnb_4bit_compute_dtype"})


def of_key(key: str, owner: ModelConfig | None, section: str | None) -> Iterator[tuple[Scalar, str]]:
    """Values with a word about each, the default first; nothing where any number would do.

    ``owner`` is the config object the key is in; ``section`` the name of another object around it.
    """
    if key == "model_type":
        for name, entry in catalogue.index()["types"].items():
            yield name, str(entry[0])
        return
    record = catalogue.config_type(owner.model_type) if owner is not None and owner.is_native else None
    if key == "architectures":
        for name in record.classes if record else ():
            yield name, "default" if name == (record.architecture if record else None) else ""
        return
    if key in DTYPE_KEYS:
        others = [name for name in catalogue.enumerations()["dtypes"] if name not in COMMON_DTYPES]
        yield from ((name, "dtype") for name in (*COMMON_DTYPES, *others))
        return
    name = owner.synonyms.get(key, key) if owner is not None else key
    schema = record.properties.get(name, {}) if record else {}
    default = record.resolved.get(name, record.declared.get(name)) if record else None
    seen: set[tuple[type, Scalar]] = set()
    for value, detail in _candidates(key, schema, default, section):
        if (type(value), value) not in seen:
            seen.add((type(value), value))
            yield value, "default" if value == default and type(value) is type(default) else detail


def _candidates(key: str, schema: object, default: object, section: str | None) -> Iterator[tuple[Scalar, str]]:
    kinds = schema.get("type", ()) if isinstance(schema, dict) else ()
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if isinstance(default, str | int | float):
        yield default, "default"
    if isinstance(default, list):
        # The kinds of layer that this family has come before those of all others.
        yield from ((item, "in the default") for item in default if isinstance(item, str))
    if "boolean" in kinds:
        yield from ((True, ""), (False, ""))
    if isinstance(schema, dict):
        yield from ((value, "") for value in schema.get("enum", ()) if not isinstance(value, dict | list))
    listed = ENUMERATED.get(key)
    if listed is not None and (key != "type" or section in ("rope_scaling", "rope_parameters")):
        yield from ((str(value), "") for value in catalogue.enumerations()[listed])
    elif ("act" in key.split("_") or "activation" in key or key.endswith("_act")) and ("string" in kinds or not kinds):
        yield from ((str(value), "activation") for value in catalogue.enumerations()["activations"])
    if "null" in kinds:
        yield None, ""
