"""Record what may be written into a config.json: one JSON Schema file for every model type transformers knows.

    python tools/record_catalogue.py [--types llama,qwen3]

Needs transformers and torch in the environment that runs it; the product needs neither. Only facts are recorded:
keys, types, defaults, synonyms, nested types, class names, and which keys the sources read. Files written to
``schemas/neurarch_schemas/catalogue/data``:

    _base.json               the keys every config class inherits
    _enumerations.json       activations, RoPE types, quantization methods, dtypes, attention implementations
    _index.json              model type -> [config class, head class, has a causal LM]; class name -> model types
    types/<model_type>.json  the keys of one type (see ``record_type``)
    sources/<module>.json    {class: [config class, [keys it reads]]} for one family's modeling files
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import inspect
import json
import math
import sys
import tempfile
import typing
from pathlib import Path
from typing import Any

import transformers
from catalogue_annotations import bounds, schema_of
from catalogue_sources import attributes_read, family_reads, keys_read, keyword_reads
from transformers import PretrainedConfig
from transformers.models.auto import configuration_auto, modeling_auto

transformers.logging.set_verbosity_error()

DATA = Path(__file__).parent.parent / "schemas" / "neurarch_schemas" / "catalogue" / "data"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
PACKAGE = Path(transformers.__file__).parent

# The order in which a head class is chosen for a config without `architectures`.
HEADS = (
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
    "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES",
    "MODEL_MAPPING_NAMES",
)
BASE_KEYS = [field.name for field in dataclasses.fields(PretrainedConfig)]
NOT_KEYS = {"transformers_version", "model_type", "architectures", "_name_or_path", "_attn_implementation", "dtype",
            "id2label", "label2id", "output_attentions", "_experts_implementation"}  # fmt: skip


# What the base class takes besides its declared fields, with JSON types (none: anything).
EXTRA_BASE_KEYS: dict[str, Any] = {
    "num_labels": ["integer", "boolean"],
    "auto_map": ["object", "null"],
    "quantization_config": ["object", "null"],
    "_name_or_path": ["string", "null"],
    "name_or_path": ["string", "null"],
    "per_layer_config": ["object", "null"],
    "attn_implementation": None,
    "_attn_implementation": None,
    "experts_implementation": None,
    "use_return_dict": ["boolean", "null"],
    "tie_last_hidden_states": ["boolean", "null"],
    "task_specific_params": ["object", "null"],
    "_commit_hash": ["string", "null"],
}
# Legacy keys read under a name that is put together at run time.
SWA_KEYS = ("num_attention_heads", "num_key_value_heads", "q_lora_rank", "kv_lora_rank", "head_dim", "qk_nope_head_dim",
            "v_head_dim", "qk_rope_head_dim")  # fmt: skip
BUILT_KEYWORDS: dict[str, tuple[str, ...]] = {
    "dots3_note_text": tuple(f"swa_{name}" for name in SWA_KEYS),
    "nemotron_h_omni": ("img_context_token_id", "video_context_token_id", "sound_context_token_id", "llm_config",
                        "sound_config", "vit_hidden_size"),
}  # fmt: skip


def jsonable(value: Any) -> Any:
    if isinstance(value, PretrainedConfig):
        return {
            key: jsonable(item) for key, item in value.to_dict().items() if key not in NOT_KEYS or key == "model_type"
        }
    if isinstance(value, dict):
        # Some classes make one entry for each member of a set of layer types, in no particular order.
        entries = sorted(value.items()) if all(isinstance(item, dict) for item in value.values()) else value.items()
        return {str(key): jsonable(item) for key, item in entries}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"__float__": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)


def build_default(config_class: type) -> dict[str, Any] | None:
    try:
        return dict(config_class().to_dict())
    except Exception:
        return None


def declared_defaults(config_class: type) -> dict[str, Any]:
    result = {}
    for field in dataclasses.fields(config_class):
        if field.default is not dataclasses.MISSING:
            result[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            result[field.name] = field.default_factory()
        else:
            result[field.name] = None
    return result


def nested_specifications(config_class: type) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, spec in config_class.sub_configs_defaults.items():
        entry: dict[str, Any] = {"model_type": spec.model_type}
        if not issubclass(spec.config_class, PretrainedConfig):
            entry["any_type"] = True
        elif configuration_auto.CONFIG_MAPPING_NAMES.get(spec.model_type) != spec.config_class.__name__:
            entry["class"] = spec.config_class.__name__
        if spec.optional:
            entry["optional"] = True
        if spec.init_kwargs:
            entry["settings"] = jsonable(spec.init_kwargs)
        result[key] = entry
    for key, nested_class in undeclared_nested(config_class).items():
        if key not in result:
            entry = {"model_type": nested_class.model_type}
            if configuration_auto.CONFIG_MAPPING_NAMES.get(nested_class.model_type) != nested_class.__name__:
                entry["class"] = nested_class.__name__
            result[key] = entry
            if "CONFIG_MAPPING[" in inspect.getsource(config_class):
                entry["any_type"] = True
            if key in config_class.__dict__ and "is_folding_model" in inspect.getsource(config_class):
                entry["optional"] = True
    for key, entry in result.items():
        if must_name_its_type(config_class, key):
            entry["named"] = True
    return result


def must_name_its_type(config_class: type, key: str) -> bool:
    """An object at this key without ``model_type`` is looked up all the same, and not found."""
    try:
        config_class(**{key: {"return_dict": True}})
    except KeyError as error:
        return error.args[0] in (None, "model_type")
    except Exception:
        return False
    return False


def undeclared_nested(config_class: type) -> dict[str, type]:
    """Keys that hold a config object although the class does not list them: seen in annotations and in an instance."""
    found: dict[str, type] = {}
    for field in dataclasses.fields(config_class):
        for argument in typing.get_args(field.type):
            if (
                inspect.isclass(argument)
                and issubclass(argument, PretrainedConfig)
                and argument is not PretrainedConfig
            ):
                found[field.name] = argument
    try:
        values = vars(config_class())
    except Exception:
        return found
    for key, value in values.items():
        if isinstance(value, PretrainedConfig):
            found[key] = type(value)
    return found


def own_source(config_class: type) -> ast.Module:
    """The bodies of the class and its parents below PretrainedConfig as one tree."""
    bodies: list[ast.stmt] = []
    for parent in config_class.__mro__:
        if parent is PretrainedConfig:
            break
        if issubclass(parent, PretrainedConfig):
            bodies += ast.parse(inspect.cleandoc("\n" + inspect.getsource(parent))).body
    return ast.Module(bodies, [])


def deriving_class(config_class: type) -> str | None:
    """The class whose ``__post_init__`` (or RoPE conversion) fills in values, None where only the base class does."""
    for parent in config_class.__mro__:
        if parent is PretrainedConfig:
            return None
        if "__post_init__" in parent.__dict__ or "convert_rope_params_to_dict" in parent.__dict__:
            return parent.__name__
    return None


def head_class(model_type: str) -> str | None:
    for mapping in HEADS:
        name = getattr(modeling_auto, mapping, {}).get(model_type)
        if name:
            name = name if isinstance(name, str) else name[0]
            if hasattr(transformers, name):
                return name
    return None


def model_classes(model_type: str, config_class: type) -> list[str]:
    """Every class with a ``forward`` for this config: from the auto mappings, then from the family's modeling files."""
    names: dict[str, None] = {}
    for mapping_name in dir(modeling_auto):
        mapping = getattr(modeling_auto, mapping_name)
        if mapping_name.startswith("MODEL") and mapping_name.endswith("MAPPING_NAMES") and hasattr(mapping, "get"):
            value = mapping.get(model_type)
            for name in value if isinstance(value, (list, tuple)) else [value]:
                if name:
                    names[name] = None
    package = ".".join(config_class.__module__.split(".")[:-1])
    for path in modeling_files(config_class):
        try:
            module = importlib.import_module(f"{package}.{path.stem}")
        except Exception:
            continue
        for name, item in vars(module).items():
            if not inspect.isclass(item) or item.__module__ != module.__name__ or is_abstract(item):
                continue
            if issubclass(item, transformers.PreTrainedModel) and getattr(item, "config_class", None) is config_class:
                names[name] = None
    return list(names)


def is_abstract(model_class: type) -> bool:
    """A base of a family's classes, which builds nothing itself."""
    above = transformers.PreTrainedModel.__mro__
    return not any("__init__" in parent.__dict__ for parent in model_class.__mro__ if parent not in above)


def modeling_files(config_class: type) -> list[Path]:
    folder = Path(inspect.getfile(config_class)).parent
    return sorted(folder.glob("modeling_*.py"))


def record_type(file_name: str, config_class: type) -> dict[str, Any]:
    """The schema of one type.

    ``properties``: type and ``default``, the value in a config that writes nothing; ``x-declared`` is the value before
    the class fills it in, where that differs; ``x-computed`` marks keys that are not declared at all.
    ``x-nested``: key -> model type (``any_type``: the nested object names its own, ``named``: it must), ``settings``
    given to it.
    """
    model_type = config_class.model_type if file_name == config_class.__name__ else file_name
    declared = declared_defaults(config_class)
    resolved = build_default(config_class)
    nested = nested_specifications(config_class)
    base_fields = {field.name: field for field in dataclasses.fields(PretrainedConfig)}
    properties: dict[str, Any] = {}
    for field in dataclasses.fields(config_class):
        name = field.name
        base = base_fields.get(name)
        if (
            base is not None
            and base.type == field.type
            and declared[name] == base.default
            and (resolved is None or name in NOT_KEYS or jsonable(resolved.get(name)) == jsonable(base.default))
        ):
            continue
        entry = {**schema_of(field.type), **bounds(field)}
        if name not in nested:
            default = jsonable(
                declared[name] if resolved is None or name not in resolved or name in NOT_KEYS else resolved[name]
            )
            entry["default"] = default
            if jsonable(declared[name]) != default:
                entry["x-declared"] = jsonable(declared[name])
        properties[name] = entry
    for name, value in (resolved or {}).items():
        if name not in declared and name not in NOT_KEYS and not name.startswith("_"):
            properties[name] = {"default": jsonable(value), "x-computed": True}
    for synonym, name in config_class.attribute_map.items():
        if name in properties or name in base_fields:
            properties.setdefault(
                synonym, {"$ref": f"#/properties/{name}" if name in properties else f"_base.json#/properties/{name}"}
            )
    source = own_source(config_class)
    keywords = {
        key: default
        for key, default in {**keyword_reads(source), **dict.fromkeys(BUILT_KEYWORDS.get(file_name, ()))}.items()
        if key not in properties and key not in BASE_KEYS
    }
    data: dict[str, Any] = {
        "$schema": DIALECT,
        "$id": f"{file_name}.json",
        "title": config_class.__name__,
        "type": "object",
        "allOf": [{"$ref": "_base.json"}],
        "properties": properties,
    }
    facts: dict[str, Any] = {
        "x-module": config_class.__module__.split(".")[-2],
        "x-model-type": model_type if model_type != file_name else None,
        "x-synonyms": dict(config_class.attribute_map),
        "x-nested": nested,
        "x-keywords": keywords,
        "x-derived-by": deriving_class(config_class),
        "x-architecture": head_class(model_type),
        "x-classes": model_classes(model_type, config_class),
        "x-read-by-config": [key for key in attributes_read(source) if key in properties or key in keywords],
        "x-rope-theta": config_class.default_theta if config_class.default_theta != 10000.0 else None,
        "x-rope-type": config_class.default_rope_type if config_class.default_rope_type != "default" else None,
        "x-rope-labels": list(getattr(config_class, "_rope_type_labels", None) or [])
        if not isinstance(getattr(config_class, "_rope_type_labels", None), property)
        else None,
        "x-properties": [
            name
            for name in dir(config_class)
            if isinstance(inspect.getattr_static(config_class, name), property)
            and not hasattr(PretrainedConfig, name)
            and not name.startswith("_")
        ],
        "x-default-unknown": True if resolved is None else None,
    }
    data.update({key: value for key, value in facts.items() if value not in (None, [], {})})
    return data


def nested_classes() -> dict[str, type]:
    """Classes of nested configs that no model type leads to, by class name."""
    registered = set(configuration_auto.CONFIG_MAPPING.values())
    found: dict[str, type] = {}
    waiting = list(registered)
    while waiting:
        config_class = waiting.pop()
        specifications = [spec.config_class for spec in config_class.sub_configs_defaults.values()]
        for nested in (*specifications, *undeclared_nested(config_class).values()):
            if issubclass(nested, PretrainedConfig) and nested not in registered and nested.__name__ not in found:
                found[nested.__name__] = nested
                waiting.append(nested)
    return found


def record_base() -> dict[str, Any]:
    import torch

    properties = {}
    hints = {**vars(sys.modules[PretrainedConfig.__module__]), "torch": torch}
    for field in dataclasses.fields(PretrainedConfig):
        annotation = eval(field.type, hints) if isinstance(field.type, str) else field.type
        properties[field.name] = {**schema_of(annotation), "default": jsonable(field.default)}
    properties["model_type"] = {"type": "string"}
    properties["torch_dtype"] = {"type": ["string", "null"]}
    properties["output_attentions"] = {"type": ["boolean", "null"], "default": False}
    for name, kinds in EXTRA_BASE_KEYS.items():
        properties.setdefault(name, {"type": kinds} if kinds else {})
    generation = transformers.GenerationConfig._get_default_generation_params()
    return {
        "$schema": DIALECT,
        "$id": "_base.json",
        "type": "object",
        "properties": properties,
        "x-generation-keys": sorted(generation),
        "x-unchecked": [name for name in properties if name != "model_type" and is_unchecked(name)],
    }


def is_unchecked(name: str) -> bool:
    """Whether a config loads with anything at this key: the base class checks no types, subclasses do."""
    for value in (1, 1.5, True, "a", [], ["a"], {"a": 1}):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "config.json").write_text(json.dumps({"model_type": "llama", name: value}), encoding="utf-8")
            try:
                transformers.AutoConfig.from_pretrained(folder)
            except Exception:
                return False
    return True


def record_enumerations() -> dict[str, Any]:
    import torch
    from transformers.activations import ACT2FN
    from transformers.configuration_utils import (
        _LEGACY_LAYER_TYPE_REMAP,
        ALLOWED_ATTN_LAYER_TYPES,
        ALLOWED_MLP_LAYER_TYPES,
    )
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    from transformers.utils.quantization_config import QuantizationMethod

    return {
        "activations": sorted(ACT2FN),
        "rope_types": sorted({"default", "axial", *ROPE_INIT_FUNCTIONS}),
        "quantization_methods": sorted(method.value for method in QuantizationMethod),
        "dtypes": sorted(
            name for name, item in vars(torch).items() if isinstance(item, torch.dtype) and str(item) == f"torch.{name}"
        ),
        "attention_implementations": sorted({"eager", *ALL_ATTENTION_FUNCTIONS.keys()}),
        "experts_implementations": sorted({"eager", *ALL_EXPERTS_FUNCTIONS.keys()}),
        "layer_types": list(ALLOWED_ATTN_LAYER_TYPES),
        "mlp_layer_types": list(ALLOWED_MLP_LAYER_TYPES),
        "legacy_layer_types": dict(_LEGACY_LAYER_TYPE_REMAP),
        "transformers_version": transformers.__version__,
    }


def record_shared_reads() -> dict[str, Any]:
    """Keys the code shared by all families reads (caches, masks, generic heads, weight tying)."""
    found: dict[str, Any] = {}
    paths = [
        *PACKAGE.glob("*.py"),
        *(PACKAGE / "generation").glob("*.py"),
        *(PACKAGE / "integrations").glob("*.py"),
        *(PACKAGE / "loss").glob("*.py"),
    ]
    for path in sorted(paths):
        if path.stem in ("trainer", "training_args", "testing_utils", "configuration_utils", "convert_slow_tokenizer"):
            continue
        keys = keys_read(ast.parse(path.read_text(encoding="utf-8")))
        if keys:
            found[path.stem] = [None, keys]
    return found


def write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", help="only these model types (comma separated); the index is left alone")
    arguments = parser.parse_args()
    types = arguments.types.split(",") if arguments.types else list(configuration_auto.CONFIG_MAPPING.keys())
    families: dict[str, type] = {}
    index: dict[str, Any] = {"types": {}, "classes": {}}
    for name, config_class in nested_classes().items():
        write(DATA / "types" / f"{name}.json", record_type(name, config_class))
    for model_type in types:
        config_class = configuration_auto.CONFIG_MAPPING[model_type]
        data = record_type(model_type, config_class)
        write(DATA / "types" / f"{model_type}.json", data)
        families.setdefault(data["x-module"], config_class)
        causal = model_type in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        index["types"][model_type] = [data["title"], data.get("x-architecture"), causal]
        for name in data.get("x-classes", []):
            index["classes"].setdefault(name, []).append(model_type)
    for module, config_class in families.items():
        write(DATA / "sources" / f"{module}.json", family_reads(modeling_files(config_class)))
    if arguments.types is None:
        write(DATA / "_base.json", record_base())
        write(DATA / "_enumerations.json", record_enumerations())
        write(DATA / "_index.json", index)
        write(DATA / "sources" / "_shared.json", record_shared_reads())


if __name__ == "__main__":
    main()
