"""The order in which a config class takes in what is written; see ``draft`` for the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from neurarch_schemas.catalogue.load import ConfigType, config_type, enumerations
from neurarch_schemas.config import rope
from neurarch_schemas.config.derived import Steps, derivations
from neurarch_schemas.config.draft import Draft, apply
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.periods import placed
from neurarch_schemas.documents.json_value import JSONScalar, JSONValue

# Nested deeper than this is not a model config; nothing is opened below.
DEEPEST = 6
NO_STEPS: Steps = ((), (), ())


@lru_cache(maxsize=256)
def foreign_type(model_type: str) -> ConfigType:
    """A type transformers does not have: nothing is declared, everything stays as written."""
    return ConfigType(
        model_type=model_type,
        config_class="",
        module="",
        properties={},
        declared={},
        resolved={},
        unchecked=frozenset(),
        fields=frozenset(),
        shadowed=frozenset(),
        recorded=(),
        synonyms={},
        nested={},
        keywords={},
        derived_by=None,
        architecture=None,
        classes=(),
        read_by_config=(),
        rope_theta=10000.0,
        rope_type="default",
        rope_labels=(),
        attributes=(),
    )


def resolve(
    record: ConfigType, given: Mapping[str, JSONValue], written: Mapping[str, JSONValue], pointer: str, depth: int = 0
) -> Draft:
    """``given`` is what the class is constructed from: the keys ``written`` in the document and what a parent adds."""
    draft = Draft(record, pointer, given)
    draft.written = written
    steps = derivations(record.derived_by) if record.derived_by else NO_STEPS
    before, rotary, after = steps if steps is not None else NO_STEPS
    apply(before, draft)
    if depth < DEEPEST:
        open_nested(draft, depth)
    dtype = draft.keywords.pop("torch_dtype", None)
    if dtype is not None and draft.values.get("dtype") is None:
        draft.derive("dtype", dtype)
    apply(rotary or (rope.convert,), draft)
    per_layer_config = draft.keywords.get("per_layer_config")
    for key, value in draft.keywords.items():
        if key == "rope_scaling" and "rope_parameters" in draft.values:
            draft.derive("rope_parameters", value)
        elif key not in record.attributes:
            draft.values[record.synonyms.get(key, key)] = value
    if isinstance(per_layer_config, dict):
        apply((override_layers,), draft)
    for key in ("layer_types", "mtp_layer_types"):
        rename_layer_types(draft, key)
    apply((*after, rope.name_types), draft)
    fill_recorded(draft, everything=steps is None)
    return draft


def open_nested(draft: Draft, depth: int) -> None:
    for key, nested in draft.type.nested.items():
        value = draft.values.get(key)
        if value is None and nested.optional:
            continue
        if key == "backbone_config":
            value = backbone(draft, value)
        if isinstance(value, dict):
            given: Mapping[str, JSONValue] = value
        elif value is None or key in draft.written:
            given = nested.settings or {}
        else:
            continue
        model_type = given.get("model_type") if nested.any_type else None
        name = model_type if isinstance(model_type, str) else nested.record or nested.model_type
        draft.nested[key] = open_one(draft, key, config_type(name) or foreign_type(name), given, depth)
    if not draft.type.config_class:
        open_foreign(draft, depth)


def open_foreign(draft: Draft, depth: int) -> None:
    """Objects in the config of an unknown type which look like configs themselves."""
    for key, value in draft.keywords.items():
        if key == "quantization_config" or not isinstance(value, dict):
            continue
        if key.endswith("_config") or "model_type" in value:
            model_type = value.get("model_type")
            name = model_type if isinstance(model_type, str) else ""
            draft.nested[key] = open_one(draft, key, config_type(name) or foreign_type(name), value, depth)


def backbone(draft: Draft, value: JSONValue) -> JSONValue:
    """Older files name a timm model ("backbone") instead of describing the backbone."""
    settings = draft.take("backbone_kwargs")
    name = draft.take("backbone")
    draft.take("use_timm_backbone")
    draft.take("use_pretrained_backbone")
    if name is not None and value is None:
        return {"model_type": "timm_backbone", "backbone": name, **(settings if isinstance(settings, dict) else {})}
    return value


def open_one(draft: Draft, key: str, record: ConfigType, given: Mapping[str, JSONValue], depth: int) -> Draft:
    written = draft.written.get(key)
    pointer = f"{draft.pointer}/{escape(key)}"
    if key in draft.places:
        pointer, written = draft.places[key][0], dict(draft.places[key][1])
    return resolve(record, given, written if isinstance(written, dict) else {}, pointer, depth + 1)


def escape(key: str) -> str:
    """One component of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def rename_layer_types(draft: Draft, key: str) -> None:
    """Older names of layer kinds ("attention") become the current ones ("full_attention")."""
    key = draft.type.synonyms.get(key, key)
    if draft.values.get(key) is None and key not in draft.patterns:
        return
    names: Mapping[str, str] = enumerations()["legacy_layer_types"]
    value = draft.values.get(key)
    if isinstance(value, list):
        renamed: list[JSONValue] = [names.get(item, item) if isinstance(item, str) else item for item in value]
        if renamed != value:
            draft.derive(key, renamed, "older names of layer kinds replaced")
    elif key in draft.patterns:
        pattern: LayerPattern[JSONScalar] = draft.patterns[key]
        draft.patterns[key] = pattern.map(lambda item: names.get(item, item) if isinstance(item, str) else item)


def override_layers(draft: Draft) -> None:
    """``per_layer_config``: keys whose value differs in single layers."""
    overrides = draft.values["per_layer_config"]
    if not isinstance(overrides, dict):
        return
    count = draft.integer("num_hidden_layers")
    layers: dict[str, dict[int, JSONScalar]] = {}
    for index, changes in overrides.items():
        for name, value in changes.items() if isinstance(changes, dict) else ():
            if not isinstance(value, list | dict):
                layers.setdefault(name, {})[int(index)] = value
    for name, values in layers.items():
        common = draft.get(name)
        draft.per_layer[name] = placed(values, count, None if isinstance(common, list | dict) else common)


def fill_recorded(draft: Draft, everything: bool) -> None:
    """Constants of the class; and, where its derivations are not written down, what it has when nothing is written."""
    record = draft.type
    for key in record.recorded:
        if (
            key == "per_layer_config"
            or key in draft.derived
            or key in draft.written
            or (not everything and key in draft.values)
        ):
            continue
        draft.values[key] = record.resolved[key]
