"""Vision towers of the timm library: totals measured with timm 1.0.31, which the recorded ground truth leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config

TEXT = {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4}
PERCEPTION = {
    "embed_dim": 1536,
    "img_size": [448, 448],
    "depth": 47,
    "global_pool": "",
    "use_post_transformer_norm": False,
    "init_values": 0.1,
    "ref_feat_shape": [32, 32],
}
PERCEPTION_LM: dict[str, Any] = {
    "model_type": "perception_lm",
    "architectures": ["PerceptionLMForConditionalGeneration"],
    "vision_config": {
        "model_type": "timm_wrapper",
        "architecture": "vit_pe_core_gigantic_patch14_448",
        "model_args": PERCEPTION,
    },
    "text_config": {**TEXT, "model_type": "llama", "vocab_size": 1000, "tie_word_embeddings": True},
}
FAST_VLM = {
    "model_type": "fast_vlm",
    "architectures": ["FastVlmForConditionalGeneration"],
    "multimodal_projector_bias": False,
    "text_config": {**TEXT, "model_type": "qwen2", "vocab_size": 1000, "tie_word_embeddings": True},
}
TOTALS = [
    ({"model_type": "gemma3n_vision", "architectures": ["TimmWrapperModel"]}, 294_126_912),
    ({"model_type": "gemma3n", "architectures": ["Gemma3nForConditionalGeneration"]}, 7_818_517_072),
    (PERCEPTION_LM, 1_759_071_744),
    (FAST_VLM, 158_165_856),
]


@pytest.mark.parametrize(("written", "total"), TOTALS)
def test_totals(written: dict[str, Any], total: int) -> None:
    assert count_parameters(architectures.build(read_config(written))).total == total


@pytest.mark.parametrize("change", [{"architecture": "resnet50"}, {"model_args": {**PERCEPTION, "global_pool": "map"}}])
def test_other_networks_are_refused(change: dict[str, Any]) -> None:
    written = {**PERCEPTION_LM, "vision_config": {**PERCEPTION_LM["vision_config"], **change}}
    with pytest.raises(CannotBuild):
        architectures.build(read_config(written))
