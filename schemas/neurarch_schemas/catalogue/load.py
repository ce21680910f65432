"""The recorded facts about model types, read lazily: one small file a type."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from typing import Any

from neurarch_schemas.record import Record

DATA = os.path.join(os.path.dirname(__file__), "data")
ROPE_KEYS = ("rope_scaling", "rope_theta", "partial_rotary_factor")
PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}
"""What the types of JSON Schema are read as."""
BOUNDS = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
BEYOND_TYPES = frozenset(("enum", "anyOf", "items", "additionalProperties", "x-fraction", *BOUNDS))
"""Keywords of the catalogue's schemas that ask for more than a type. ``x-fraction`` is ours: declared as ``float``
without ``int``, so that a whole number is refused, which JSON Schema cannot say."""
KEPT = 2_000
"""More than there are types; what names come from a file that is being typed has no end."""
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


class NestedType(Record):
    """What a nested config key holds."""

    model_type: str
    """The type of the nested object when it names none (and always, unless ``any_type``)."""
    any_type: bool = False
    """The nested object's own ``model_type`` decides."""
    record: str | None = None
    """Name of the catalogue file, where the class has no model type of its own."""
    optional: bool = False
    """null stays null; otherwise null means "all defaults"."""
    is_named: bool = False
    """An object that does not name its type is refused."""
    settings: Mapping[str, Any] | None = None
    """What transformers writes into the nested config when the key is absent."""


class ConfigType(Record):
    """One config class: what may be written into it and what it fills in."""

    model_type: str
    config_class: str
    module: str
    """Name of the family's folder in transformers (``models/<module>``)."""
    properties: Mapping[str, Mapping[str, Any]]
    """Canonical key -> JSON Schema of its value; inherited keys included."""
    declared: Mapping[str, Any]
    """Canonical key -> value before the class derives anything."""
    resolved: Mapping[str, Any]
    """Canonical key -> value in a config that writes nothing."""
    unchecked: frozenset[str]
    """Canonical keys that only the base class declares, which takes a value of any type for them."""
    fields: frozenset[str]
    """Names the class declares. A synonym that is not among them is taken in last and therefore wins."""
    recorded: tuple[str, ...]
    """Canonical keys whose resolved value is not the declared one."""
    shadowed: frozenset[str]
    """Declared names without effect: a later declared name sets the same canonical key."""
    synonyms: Mapping[str, str]
    """Accepted name -> canonical name."""
    nested: Mapping[str, NestedType]
    keywords: Mapping[str, Any]
    """Legacy keys the class reads once and does not keep, with their default where it is a constant."""
    derived_by: str | None
    """The class whose derivations apply; None where the class derives nothing."""
    architecture: str | None
    """The model class built from a config without ``architectures``."""
    classes: tuple[str, ...]
    read_by_config: tuple[str, ...]
    rope_theta: float
    rope_type: str
    rope_labels: tuple[str, ...]
    attributes: tuple[str, ...]
    """Read-only attributes the class computes from its keys."""

    def canonical(self, name: str) -> str:
        return self.synonyms.get(name, name)

    def checks(self, name: str) -> bool:
        """The class looks at the type of what stands under this very name; it takes a synonym it does not declare."""
        return (name in self.fields or name in base_properties()) and self.canonical(name) not in self.unchecked

    def knows(self, name: str) -> bool:
        """The class reads or keeps this key under that name."""
        return name in self.known_names

    @cached_property
    def known_names(self) -> frozenset[str]:
        rope = ROPE_KEYS if "rope_parameters" in self.properties else ()
        return frozenset((*self.properties, *self.synonyms, *self.keywords, *rope))

    @cached_property
    def plain_types(self) -> Mapping[str, frozenset[type]]:
        """By every name of a key whose schema asks for nothing but types: the Python types of such values.

        A quick yes for nearly all that is written; a float without a fraction, which JSON Schema takes for an integer,
        is not among them.
        """
        kinds = {key: schema["type"] for key, schema in self.properties.items() if "type" in schema}
        plain = {
            key: frozenset(
                of
                for kind in ([kinds[key]] if isinstance(kinds[key], str) else kinds[key])
                for of in PYTHON_TYPES[kind]
            )
            for key in kinds
            if BEYOND_TYPES.isdisjoint(self.properties[key])
        }
        return {**plain, **{name: plain[key] for name, key in self.synonyms.items() if key in plain}}


def read_data(name: str) -> Any:
    with open(os.path.join(DATA, name), "rb") as file:
        text = file.read()
    return json.loads(text, object_hook=special_float) if b"__float__" in text else json.loads(text)


def special_float(item: dict[str, Any]) -> Any:
    """Infinity and NaN as transformers writes them into JSON."""
    name = item.get("__float__")
    return float(name) if name in ("Infinity", "-Infinity", "NaN") else item


@lru_cache(maxsize=1)
def base_properties() -> Mapping[str, Mapping[str, Any]]:
    """Keys every config class inherits."""
    properties: Mapping[str, Mapping[str, Any]] = read_data("_base.json")["properties"]
    return properties


@lru_cache(maxsize=1)
def generation_keys() -> frozenset[str]:
    """Keys of generation_config.json which older files carry in config.json; transformers drops them there."""
    return frozenset(read_data("_base.json")["x-generation-keys"])


@lru_cache(maxsize=1)
def unchecked_keys() -> frozenset[str]:
    """Keys of the base class that load with a value of any type, unless a subclass declares them again."""
    return frozenset(read_data("_base.json")["x-unchecked"])


@lru_cache(maxsize=1)
def enumerations() -> Mapping[str, Any]:
    """Names transformers accepts: activations, RoPE types, quantization methods, dtypes, attention implementations."""
    data: Mapping[str, Any] = read_data("_enumerations.json")
    return data


@lru_cache(maxsize=1)
def index() -> Mapping[str, Mapping[str, Any]]:
    """``types``: model type -> [config class, default head class, has a causal LM]; ``classes``: class -> types."""
    data: Mapping[str, Mapping[str, Any]] = read_data("_index.json")
    return data


@cache
def indivisible_heads(answer: str) -> frozenset[str]:
    """Model types by what they do when the heads do not divide hidden_size.

    ``refused``: they raise, with head_dim too; ``needs_head_dim``: they raise without it; ``floored``: they round down.
    """
    return frozenset(read_data("_indivisible_heads.json")[answer])


@lru_cache(maxsize=KEPT)
def schema(name: str) -> Mapping[str, Any] | None:
    """The JSON Schema of one model type as recorded; None when transformers has no such type."""
    if not FILE_NAME.fullmatch(name):
        return None
    try:
        data: Mapping[str, Any] = read_data(f"types/{name}.json")
    except OSError:
        return None
    return data


@lru_cache(maxsize=KEPT)
def config_type(name: str) -> ConfigType | None:
    """Facts about one model type (or a nested class without one); None when transformers does not have it."""
    data = schema(name)
    if data is None:
        return None
    own: Mapping[str, Mapping[str, Any]] = data["properties"]
    synonyms: Mapping[str, str] = data.get("x-synonyms", {})
    properties: dict[str, Mapping[str, Any]] = dict(base_properties())
    declared: dict[str, Any] = {}
    resolved: dict[str, Any] = {}
    fields: dict[str, str] = {}
    for key, entry in (*base_properties().items(), *own.items()):
        if "$ref" in entry:  # another name, listed for schema validators; ``synonyms`` says the same
            continue
        canonical = synonyms.get(key, key)
        if "x-computed" in entry:
            resolved[canonical] = entry["default"]
            properties.setdefault(canonical, entry)
            continue
        properties[canonical] = entry
        if "default" in entry or key in data.get("x-nested", ()):
            fields[key] = canonical
            resolved[canonical] = entry.get("default")
            declared[canonical] = entry.get("x-declared", entry.get("default"))
    last = {name: key for key, name in fields.items()}
    return ConfigType(
        model_type=data.get("x-model-type", name),
        config_class=data["title"],
        module=data["x-module"],
        properties=properties,
        declared=declared,
        resolved=resolved,
        unchecked=unchecked_keys().difference(own),
        fields=frozenset(fields),
        recorded=tuple(
            key
            for key, value in resolved.items()
            if key not in data.get("x-nested", ()) and (key not in declared or declared[key] != value)
        ),
        shadowed=frozenset(key for key, name in fields.items() if key != last[name]),
        synonyms=synonyms,
        nested={
            key: NestedType(
                entry["model_type"],
                entry.get("any_type", False),
                entry.get("class"),
                entry.get("optional", False),
                entry.get("named", False),
                entry.get("settings"),
            )
            for key, entry in data.get("x-nested", {}).items()
        },
        keywords=data.get("x-keywords", {}),
        derived_by=data.get("x-derived-by"),
        architecture=data.get("x-architecture"),
        classes=tuple(data.get("x-classes", ())),
        read_by_config=tuple(data.get("x-read-by-config", ())),
        rope_theta=data.get("x-rope-theta", 10000.0),
        rope_type=data.get("x-rope-type", "default"),
        rope_labels=tuple(data.get("x-rope-labels", ())),
        attributes=tuple(data.get("x-properties", ())),
    )
