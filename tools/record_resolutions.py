"""Record how transformers resolves configs in which a few keys are written, for the resolution tests.

    python tools/record_resolutions.py OUT.jsonl.xz [--types a,b] [--count 6] [--seed 0]

Needs transformers. Reads the recorded catalogue for the keys to write. One line a config:

    [model type, written, changed]

``changed`` holds the config's attributes that are neither written nor declared defaults, nested configs included.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import lzma
import math
import os
import random
import signal
import zlib
from pathlib import Path
from typing import Any

import transformers
from transformers import PretrainedConfig
from transformers.models.auto import configuration_auto

transformers.logging.set_verbosity(transformers.logging.CRITICAL)

TYPES = Path(__file__).parent.parent / "schemas" / "neurarch_schemas" / "catalogue" / "data" / "types"
SKIPPED = {"transformers_version", "model_type", "architectures", "_name_or_path", "id2label", "label2id", "dtype",
           "output_attentions", "_attn_implementation", "_experts_implementation", "return_dict",
           "output_hidden_states", "chunk_size_feed_forward", "problem_type", "is_encoder_decoder",
           "ignore_keys_at_rope_validation", "timm_kwargs"}  # fmt: skip
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers")
KEYWORDS: dict[str, Any] = {
    "rope_theta": 500000.0,
    "partial_rotary_factor": 0.5,
    "rope_scaling": {"type": "linear", "factor": 2.0},
    "rope_local_base_freq": 20000.0,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}


def attributes(config: PretrainedConfig) -> dict[str, Any]:
    """What the model code sees: the instance's attributes under their own names, private ones left out."""
    found = {key: value for key, value in vars(config).items() if not key.startswith("_")}
    for key in ("out_features", "out_indices"):
        if f"_{key}" in vars(config):
            found[key] = getattr(config, f"_{key}")
    if config.is_heterogeneous:
        overrides = vars(config)["_heterogeneity_spec"].per_layer_overrides
        found["per_layer_config"] = {str(index): changes for index, changes in overrides.items()}
    return {"model_type": config.model_type, **found}


def jsonable(value: Any) -> Any:
    if isinstance(value, PretrainedConfig):
        return jsonable(attributes(value))
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"__float__": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)


def record(name: str) -> dict[str, Any] | None:
    path = TYPES / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def another(key: str, entry: dict[str, Any], rng: random.Random) -> Any:
    """A different plausible value, or None for "leave it out"."""
    kinds = entry.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    value = entry.get("default")
    if "enum" in entry:
        return rng.choice([item for item in entry["enum"] if item is not None])
    if key in LAYERS:
        return rng.randrange(1, 14)
    if key.endswith(("token_id", "token_index")) or key == "hidden_act":
        return value
    if isinstance(value, bool) or (value is None and kinds[:1] == ["boolean"]):
        return not value
    if isinstance(value, int) and "integer" in kinds:
        return rng.choice([value * 2, value * 3, max(1, value // 2), value])
    if isinstance(value, float):
        return value * rng.choice([0.5, 1.5])
    if value is None and "integer" in kinds:
        return rng.choice([1, 2, 4, 8, 64])
    return None


def write_some(name: str, rng: random.Random, density: float, depth: int = 0) -> dict[str, Any]:
    data = record(name)
    if data is None:
        return {}
    written: dict[str, Any] = {}
    backwards = {new: old for old, new in data.get("x-synonyms", {}).items()}
    for key, entry in data["properties"].items():
        if key in SKIPPED or "x-computed" in entry or rng.random() > density:
            continue
        if key in data.get("x-nested", {}):
            nested = data["x-nested"][key]
            kind = nested.get("class", nested["model_type"])
            value: Any = write_some(kind, rng, density, depth + 1)
            if nested.get("any_type") and rng.random() < 0.7:
                value["model_type"] = nested["model_type"]
            elif not nested.get("any_type") and rng.random() < 0.3:
                value["model_type"] = rng.choice([nested["model_type"], name, "clip_vision_model"])
            written[key] = None if nested.get("optional") and rng.random() < 0.3 else value
            continue
        if "null" in (entry.get("type") or []) and isinstance(entry.get("type"), list) and rng.random() < 0.2:
            written[key] = None
            continue
        value = another(key, entry, rng)
        if value is not None:
            written[backwards[key] if key in backwards and rng.random() < 0.4 else key] = value
    for key, default in data.get("x-keywords", {}).items():
        if key in SKIPPED or rng.random() > density:
            continue
        if key in KEYWORDS:
            written[key] = KEYWORDS[key]
        elif isinstance(default, bool):
            written[key] = not default
        elif isinstance(default, int):
            written[key] = rng.choice([1, 2, 3, 5])
        elif isinstance(default, float):
            written[key] = default * 2
        elif default is None:
            written[key] = rng.choice([2, 3])
    if "rope_parameters" in data["properties"] and rng.random() < density:
        written.pop("rope_parameters", None)
        choice = rng.randrange(5)
        if choice == 0:
            written["rope_theta"] = 250000.0
        elif choice == 1:
            written["rope_scaling"] = {"type": "linear", "factor": 2.0}
        elif choice == 2:
            written["rope_parameters"] = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 30000.0}
        elif choice == 3:
            written["partial_rotary_factor"] = 0.5
        else:
            written["rope_theta"] = 1e6
            written["rope_scaling"] = {"rope_type": "dynamic", "factor": 8.0}
    return written


def differences(resolved: dict[str, Any], written: dict[str, Any], name: str) -> dict[str, Any]:
    data = record(name) or {"properties": {}}
    synonyms = data.get("x-synonyms", {})
    written = {synonyms.get(key, key): value for key, value in written.items()}
    declared = {synonyms.get(key, key): entry.get("x-declared", entry.get("default"))
                for key, entry in data["properties"].items() if "x-computed" not in entry}  # fmt: skip
    changed: dict[str, Any] = {}
    for key, value in resolved.items():
        if key in SKIPPED - {"is_encoder_decoder"} or key.startswith("_"):
            continue
        nested = data.get("x-nested", {}).get(key)
        if nested is not None and isinstance(value, dict):
            kind = value.get("model_type") if nested.get("any_type") else nested.get("class", nested["model_type"])
            given = written.get(key)
            changed[key] = differences(value, given if isinstance(given, dict) else {}, str(kind))
        elif (key in written and written[key] == value and type(written[key]) is type(value)) or (
            key not in written and key in declared and declared[key] == value
        ):
            continue
        else:
            changed[key] = value
    return changed


def fresh_defaults(config_class: type, keep: dict[Any, Any]) -> None:
    """Defaults of nested configs as they were at import: constructing a config may change them in place."""
    for spec in config_class.sub_configs_defaults.values():
        spec.init_kwargs = copy.deepcopy(keep.setdefault(spec, copy.deepcopy(spec.init_kwargs)))
        if issubclass(spec.config_class, PretrainedConfig):
            fresh_defaults(spec.config_class, keep)


class Slow(Exception):
    pass


def stop(*_: Any) -> None:
    raise Slow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--types")
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGALRM, stop)
    lines = []
    keep: dict[Any, Any] = {}
    for model_type in arguments.types.split(",") if arguments.types else list(configuration_auto.CONFIG_MAPPING.keys()):
        config_class = configuration_auto.CONFIG_MAPPING[model_type]
        found: list[str] = []
        for attempt in range(arguments.count * 12):
            if len(found) >= arguments.count:
                break
            rng = random.Random(zlib.crc32(f"{arguments.seed}/{model_type}/{attempt}".encode()))
            density = 0.0 if attempt == 0 else rng.choice([0.08, 0.15, 0.3, 0.5])
            written = write_some(model_type, rng, density)
            signal.alarm(10)
            fresh_defaults(config_class, keep)
            try:
                with (
                    open(os.devnull, "w") as nowhere,
                    contextlib.redirect_stdout(nowhere),
                    contextlib.redirect_stderr(nowhere),
                ):
                    resolved = jsonable(config_class.from_dict(json.loads(json.dumps(written))))
            except Exception:
                continue
            finally:
                signal.alarm(0)
            line = json.dumps([model_type, written, differences(resolved, written, model_type)], separators=(",", ":"))
            if line not in found:
                found.append(line)
        lines += found
    with lzma.open(arguments.out, "wt", encoding="utf-8", preset=9) as stream:
        stream.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
