"""The configs of the ground truth: defaults from the model type alone, explicit configs unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.config.support import IGNORED, layer_differences, lines, same

from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.read import read_config

# Keys whose recorded value is not what the config class holds, with the reason.
EXCEPTIONS = {
    ("dory", "default"): "serialized with attention and feed-forward blocks apart, twice as many layers as it has",
    ("dory", "tiny-a"): "serialized with attention and feed-forward blocks apart, twice as many layers as it has",
    ("led", "default"): "the model's constructor writes attention_window once for each layer",
    ("longformer", "default"): "the model's constructor writes attention_window once for each layer",
    ("levit", "default"): "the model's constructor appends to down_ops",
    ("speech-encoder-decoder", "default"): "the model's constructor adds tie_word_embeddings",
    ("vision-encoder-decoder", "default"): "the model's constructor adds tie_word_embeddings",
    ("minimax_m3_vl_text", "cache"): "the class sets hidden_act to silu whatever is written",
}
# Decoders built alone from an encoder-decoder's config turn these in their constructor.
REWRITTEN = {"is_encoder_decoder", "is_decoder"}


def plain_differences(config: ModelConfig, expected: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for key, item in expected.items():
        if key in IGNORED or key in REWRITTEN or key.startswith("_"):
            continue
        if key in config.nested and isinstance(item, dict):
            yield from plain_differences(config.nested[key], item, f"{path}{key}.")
            continue
        if key == "per_layer_config":
            yield from layer_differences(config, {str(int(layer)): changes for layer, changes in item.items()}, path)
            continue
        setting = config.setting(key)
        if setting is None and item is not None:
            yield f"{path}{key} is missing, expected {item!r}"
        elif setting is not None and not same(item, setting.value):
            yield f"{path}{key} is {setting.value!r}, expected {item!r}"


@pytest.mark.parametrize("variant", ["default", "tiny-a", "cache"])
def test_configs_of_the_ground_truth(variant: str) -> None:
    wrong = []
    count = 0
    for record in lines("parameters.jsonl.xz"):
        if record["variant"] != variant or (record["model_type"], variant) in EXCEPTIONS:
            continue
        minimal = {"model_type": record["model_type"], "architectures": [record["architecture"]]}
        config = read_config(minimal if variant == "default" else record["config"])
        count += 1
        wrong += [f"{record['model_type']} {item[:200]}" for item in plain_differences(config, record["config"])]
        if config.architecture != record["architecture"]:
            wrong.append(f"{record['model_type']} builds {config.architecture}, expected {record['architecture']}")
    assert count > {"default": 570, "tiny-a": 570, "cache": 20}[variant]
    assert wrong == []


def test_the_default_head_class_is_the_recorded_one() -> None:
    for record in lines("parameters.jsonl.xz"):
        if record["variant"] == "default":
            assert read_config({"model_type": record["model_type"]}).architecture == record["architecture"]
