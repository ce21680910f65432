"""The image encoder of GLM-4V: EVA-CLIP behind a strided convolution and a gated projector."""

from __future__ import annotations

from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children
from neurarch_schemas.modules.vision import height_and_width


def layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_heads")
    dim = hidden // heads
    attention = Module(
        "Attention",
        children=children(query_key_value=linear(hidden, 3 * hidden), dense=linear(hidden, hidden)),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="learned"),
    )
    return Module(
        "EncoderLayer",
        children=children(
            input_layernorm=layer_norm(hidden),
            attention=attention,
            mlp=mlp(hidden, config.integer("intermediate_size")),
            post_attention_layernorm=layer_norm(hidden),
        ),
    )


def eva_clip(config: ModelConfig, text_width: int, text_inner: int) -> Module:
    """Patches of ``config``, pooled two by two, as tokens of ``text_width`` between two learned marks."""
    hidden = config.integer("hidden_size")
    patches = Module(
        "PatchEmbedding",
        (Tensor("cls_embedding", (1, hidden)),),
        children(
            proj=convolution(config.integer("in_channels"), hidden, height_and_width(config, "patch_size")),
            position_embedding=embedding(config.integer("num_positions"), hidden),
        ),
    )
    projector = Module(
        "GLU",
        children=children(
            linear_proj=linear(text_width, text_width, bias=False),
            norm1=layer_norm(text_width),
            dense_h_to_4h=linear(text_width, text_inner, bias=False),
            gate_proj=linear(text_width, text_inner, bias=False),
            dense_4h_to_h=linear(text_inner, text_width, bias=False),
        ),
    )
    layers = uniform(layer(config), config.integer("num_hidden_layers"))
    built = Module(
        "VisionModel",
        (Tensor("boi", (1, 1, text_width)), Tensor("eoi", (1, 1, text_width))),
        children(
            patch_embedding=patches,
            transformer=Module("Transformer", children=children(layers=layers)),
            linear_proj=projector,
            conv=convolution(hidden, text_width, (2, 2)),
        ),
    )
    return in_part(built, "vision")
