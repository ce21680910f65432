"""Configs that the classes of transformers 5.24 refuse although each value has the right type."""

from __future__ import annotations

from typing import Any

import pytest
from tests.architectures.conftest import recorded

from neurarch_schemas.catalogue.load import config_type, index
from neurarch_schemas.config.read import read_config
from neurarch_schemas.config.refusals import refusals
from neurarch_schemas.config.refusals.conditions import operands, parse
from neurarch_schemas.config.refusals.table import constraints

LINEAR = {"rope_type": "linear", "rope_theta": 10000.0}
HEADS = [
    ({"model_type": "whisper", "d_model": 384, "encoder_attention_heads": 14}, True),
    ({"model_type": "whisper", "d_model": 384, "decoder_attention_heads": 14}, True),
    ({"model_type": "whisper", "d_model": 384, "encoder_attention_heads": 12, "decoder_attention_heads": 6}, False),
    ({"model_type": "bart", "d_model": 98, "encoder_attention_heads": 7, "decoder_attention_heads": 6}, True),
    ({"model_type": "llama", "hidden_size": 98, "num_attention_heads": 6, "head_dim": 16}, True),
    ({"model_type": "qwen2", "hidden_size": 98, "num_attention_heads": 6, "num_key_value_heads": 6}, False),
    ({"model_type": "gpt2", "n_embd": 98, "n_head": 6}, True),
]
TOWERS = [
    ({"model_type": "blip", "vision_config": {"hidden_size": 96, "num_attention_heads": 9}}, True),
    ({"model_type": "blip", "vision_config": {"hidden_size": 96, "num_attention_heads": 8}}, False),
    ({"model_type": "kosmos-2", "text_config": {"embed_dim": 96, "attention_heads": 9}}, True),
    ({"model_type": "xclip", "text_config": {"hidden_size": 96, "num_attention_heads": 9}}, False),
]
LAYERS = [
    ({"model_type": "gemma3_text", "num_hidden_layers": 2, "layer_types": ["full_attention"] * 2}, False),
    ({"model_type": "gemma3_text", "num_hidden_layers": 1, "layer_types": ["full_attention"] * 2}, True),
    ({"model_type": "gemma3_text", "num_hidden_layers": 2, "layer_types": ["full_attention", "global"]}, True),
    ({"model_type": "gemma3", "text_config": {"num_hidden_layers": 1, "layer_types": ["full_attention"] * 2}}, True),
]
ROPE = [
    ({"model_type": "llama", "rope_parameters": {**LINEAR, "factor": 2.0}}, False),
    ({"model_type": "llama", "rope_parameters": LINEAR}, True),
    ({"model_type": "llama", "rope_parameters": {**LINEAR, "factor": "2.0"}}, True),
    ({"model_type": "llama", "rope_theta": None}, True),
    ({"model_type": "llama", "rope_scaling": {"type": "mystery", "factor": 2.0}}, True),
    ({"model_type": "llama", "head_dim": 33}, True),
    ({"model_type": "gemma2", "rope_parameters": {"full_attention": LINEAR, "sliding_attention": LINEAR}}, True),
    ({"model_type": "mellum", "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}, True),
    ({"model_type": "gemma3_text", "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}, False),
    ({"model_type": "qwen2_5_vl_vision", "rope_parameters": {**LINEAR, "factor": 2.0}}, True),
]
STAGES = [
    ({"model_type": "resnet", "out_features": ["stage2", "stage4"]}, False),
    ({"model_type": "resnet", "out_indices": [-1]}, False),
    ({"model_type": "resnet", "out_features": ["stage9"]}, True),
    ({"model_type": "resnet", "out_features": ["stage4", "stage2"]}, True),
    ({"model_type": "resnet", "out_indices": [4, 4]}, True),
    ({"model_type": "resnet", "out_features": "stage4"}, True),
    ({"model_type": "resnet", "out_features": ["stage2"], "out_indices": [3]}, True),
]
PARTS = [
    ({"model_type": "rt_detr", "backbone_config": {"depths": [3, 4, 6, 3]}}, True),
    ({"model_type": "rt_detr", "backbone_config": {"model_type": "rt_detr_resnet", "depths": [3, 4, 6, 3]}}, False),
    ({"model_type": "exaone4_5", "text_config": {"hidden_size": 64}}, True),
    ({"model_type": "gemma3", "text_config": {"hidden_size": 64, "num_attention_heads": 2}}, False),
]
CONDITIONS = [
    ({"model_type": "wav2vec2", "num_feat_extract_layers": 8}, True),
    ({"model_type": "xlnet", "d_head": 128}, True),
    ({"model_type": "mamba2", "num_heads": 100}, True),
    ({"model_type": "funnel", "pooling_type": "median"}, True),
    ({"model_type": "hiera", "num_query_pool": 4}, True),
    ({"model_type": "data2vec-audio", "feat_extract_activation": ""}, True),
    ({"model_type": "bert", "hidden_dropout_prob": 2.5}, True),
    ({"model_type": "bert", "hidden_dropout_prob": 1.0}, False),
    ({"model_type": "mobilenet_v1", "depth_multiplier": 0.5}, False),
    ({"model_type": "hiera", "query_stride": [10**9, 2], "depths": [1] * 100}, False),  # not calculated
]


@pytest.mark.parametrize(("data", "is_refused"), [*HEADS, *TOWERS, *LAYERS, *ROPE, *STAGES, *PARTS, *CONDITIONS])
def test_as_transformers_builds(data: dict[str, Any], is_refused: bool) -> None:
    assert bool(list(refusals(read_config(data)))) is is_refused


def test_a_refusal_says_where_and_why() -> None:
    (found,) = refusals(read_config({"model_type": "gemma3", "text_config": {"head_dim": 33}}))
    assert (found.message, found.pointer) == ("RoPE rotates pairs, and head_dim 33 is odd", "/text_config")
    found, *_ = refusals(read_config({"model_type": "wav2vec2", "num_feat_extract_layers": 8}))
    assert found.message == (
        "len(conv_dim) == num_feat_extract_layers must hold, and len(conv_dim) is 7, num_feat_extract_layers is 8"
    )
    assert found.keys == ("conv_dim", "num_feat_extract_layers")


def test_what_was_built_is_not_refused() -> None:
    configs = [record["config"] for name in ("heads", "parameters") for record in recorded(name)]
    configs += [{"model_type": model_type} for model_type in index()["types"]]
    # The defaults of Aya Vision: 14 heads for a vision tower of 1152, which transformers 5.24 refuses to build.
    found = [(config["model_type"], item.message) for config in configs for item in refusals(read_config(config))]
    assert {model_type for model_type, _ in found} == {"aya_vision"}, found
    assert all(read_config(config).is_derived for config in configs)


@pytest.mark.parametrize("model_type", constraints())
def test_conditions_read_keys_that_exist(model_type: str) -> None:
    assert config_type(model_type) is not None
    config = read_config({"model_type": model_type})
    for condition, _ in constraints()[model_type]:
        assert list(operands(parse(condition), config)), condition


@pytest.mark.parametrize(
    ("written", "is_complete"),
    [
        ({"sliding_window_pattern": 4}, True),
        ({"sliding_window_pattern": "LLLG"}, False),  # transformers 5.24: unsupported operand type(s) for %
        ({"sliding_window_pattern": "LLLG", "layer_types": ["full_attention"] * 32}, True),
        ({"sliding_window": None}, False),  # and here a division by zero
    ],
)
def test_what_cannot_be_derived_is_known(written: dict[str, Any], is_complete: bool) -> None:
    assert read_config({"model_type": "exaone4", **written}).is_derived is is_complete
