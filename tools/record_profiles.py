"""Write card/profiles.json: the structural settings of published models, with lab and month of release.

Usage: python tools/record_profiles.py CONFIGS
CONFIGS holds published files named ORG__NAME.json; known_models.json adds models from their published descriptions,
releases.toml labs and months. Only settings that shape a network are kept: facts, not files.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from neurarch_lsp.card.features import features
from neurarch_rules.engine.analyse import analyse_text

ROOT = Path(__file__).resolve().parent
TARGET = ROOT.parent / "server" / "neurarch_lsp" / "card" / "profiles.json"

DROPPED = (
    "_token_id", "token_index", "dropout", "_pdrop", "id2label", "label2id", "torch_dtype", "dtype",
    "transformers_version", "auto_map", "_name_or_path", "quantization_config", "initializer", "use_cache",
    "task_specific_params", "generation", "_attn_implementation", "output_", "return_dict", "pruned_heads",
    "finetuning_task", "length_penalty", "num_beams", "repetition_penalty", "temperature", "top_p",
    "eos_", "bos_", "pad_", "processor", "tokenizer", "_size_limit", "problem_type", "torchscript", "typical_p",
    "suppress_tokens", "begin_suppress", "bad_words", "prefix", "min_length", "max_length", "do_sample",
    "early_stopping", "diversity", "encoder_no_repeat", "no_repeat", "remove_invalid", "num_return",
    "exponential_decay", "forced_", "sep_token", "decoder_start", "tf_legacy", "use_bfloat16",
    "chunk_size_feed_forward", "is_decoder", "cross_attention_hidden", "add_cross", "mm_", "vocab_file", "pretrain",
    "unfreeze", "image_grid_pinpoints", "image_aspect", "freeze", "tune_", "mask_", "use_flash", "attn_logit",
    "_from_model_config", "seed", "version",
)  # fmt: skip
EXACTLY = frozenset({"top_k", "language"})
NEVER_KEPT = ("quantization_config", "auto_map", "id2label", "label2id", "_name_or_path")
LONGEST_LIST = 200


def structural(data: Any) -> Any:
    """The settings that shape a network; free text, ids, dropout and long lists left out."""
    if isinstance(data, dict):
        return {
            key: structural(value)
            for key, value in data.items()
            if key not in EXACTLY
            and not any(part in key for part in DROPPED)
            and not (
                isinstance(value, list) and (len(value) > LONGEST_LIST or any(isinstance(item, dict) for item in value))
            )
        }
    return data


def settings_of(data: dict[str, Any]) -> dict[str, Any]:
    """The structural settings; all of them where one that seems to shape nothing changes what is derived."""
    every = {key: value for key, value in data.items() if key not in NEVER_KEPT}
    few: dict[str, Any] = structural(data)
    return few if derived(few) == derived(every) else every


def derived(settings: dict[str, Any]) -> tuple[object, ...]:
    """What cards say of a catalogued model by its settings."""
    analysis = analyse_text("config.json", json.dumps(settings))
    if analysis is None:
        return ()
    found, counted, cache = features(analysis), analysis.parameters, analysis.kv_cache
    return (found and found.as_data(), counted and (counted.total, counted.active), cache and cache.per_token)


def main() -> int:
    releases = tomllib.loads((ROOT / "releases.toml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(Path(sys.argv[1]).glob("*.json")):
        pieces = path.name.removesuffix(".json").split("__")
        name = "/".join(pieces)
        if any(
            mark in pieces[-1]
            for mark in ("generation_config", "adapter_config", "params", ".rev-", ".llmviz", "encoder")
        ):
            continue
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and isinstance(data.get("model_type"), str):
            found[name] = settings_of(data)
    for entry in json.loads((ROOT / "known_models.json").read_text(encoding="utf-8")):
        found.setdefault(entry["name"], entry["settings"])
    profiles = [
        {
            "name": name,
            "lab": lab(name, releases),
            "released": month(name, releases),
            "settings": settings,
            "features": structure(settings),
        }
        for name, settings in sorted(found.items())
    ]
    lines = ",\n".join(json.dumps(profile, separators=(",", ":"), sort_keys=True) for profile in profiles)
    TARGET.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(profiles)} models, {TARGET.stat().st_size:,} bytes")
    return 0


def structure(settings: dict[str, Any]) -> dict[str, Any] | None:
    analysis = analyse_text("config.json", json.dumps(settings))
    found = features(analysis) if analysis is not None else None
    return None if found is None else found.as_data()


def lab(name: str, releases: dict[str, dict[str, str]]) -> str:
    organisation = name.split("/")[0]
    return releases["labs"].get(organisation, organisation)


def month(name: str, releases: dict[str, dict[str, str]]) -> str | None:
    prefixes = [prefix for prefix in releases["released"] if name.startswith(prefix)]
    return releases["released"][max(prefixes, key=len)] or None if prefixes else None


if __name__ == "__main__":
    raise SystemExit(main())
