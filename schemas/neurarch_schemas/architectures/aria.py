"""Aria: an Idefics 3 tower, learned queries that attend to its patches, a language model with experts."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import torch_attention

MODEL_TYPES = ("aria",)

_DEFAULT_QUERIES = 256


def query_count(config: ModelConfig) -> int:
    """The largest number of queries that ``projector_patch_to_query_dict`` names, unless stated on its own."""
    if config.is_set("max_value_projector_patch_to_query_dict"):
        return config.integer("max_value_projector_patch_to_query_dict")
    if not config.is_set("projector_patch_to_query_dict"):
        return _DEFAULT_QUERIES
    values = list(config.mapping("projector_patch_to_query_dict").values())
    numbers = [int(value) for value in values if isinstance(value, int | str) and str(value).isdecimal()]
    if not numbers or len(numbers) != len(values):
        name = "projector_patch_to_query_dict"
        raise CannotBuild(f"{name} must map patches to numbers of queries", (name,))
    return max(numbers)


def build(config: ModelConfig) -> Module:
    vision, hidden = config.nested_config("vision_config"), config.nested_config("text_config").integer("hidden_size")
    features, heads = vision.integer("hidden_size"), vision.integer("num_attention_heads")
    cross_attention = Module(
        "CrossAttention",
        children=children(
            q_proj=linear(features, features, bias=False),
            k_proj=linear(features, features, bias=False),
            v_proj=linear(features, features, bias=False),
            multihead_attn=torch_attention(features, heads),
            linear=linear(features, features),
            layer_norm=layer_norm(features),
            layer_norm_kv=layer_norm(features),
        ),
    )
    names = ("linear_in", "linear_out")
    mapping = projector(two_layer_projector(features, hidden, bias=False, names=names))
    parts = {
        "vision_tower": tower(config),
        "multi_modal_projector": projector(
            {"cross_attn": cross_attention, "layer_norm": layer_norm(features), "feed_forward": mapping},
            tensors=(Tensor("query", (query_count(config), features)),),
        ),
        "language_model": text_model(config),
    }
    return with_output_head(config, {**parts})
