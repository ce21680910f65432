"""MoonViT with the code that came with it, in Kimi-VL (DeepSeek's MoE models) and LocateAnything (any causal model)."""

from __future__ import annotations

from neurarch_schemas.architectures import deepseek_remote
from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.remote_vision_language import below, causal_model, fused_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, named
from neurarch_schemas.modules.vision import height_and_width
from neurarch_schemas.record import replace

MODEL_TYPES = ("kimi_vl", "locateanything")


def block(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    attention = fused_attention(hidden, config.integer("num_attention_heads"), names=("wqkv", "wo"))
    return Module(
        "EncoderLayer",
        # The two projections are the layer's own children.
        children=children(
            norm0=layer_norm(hidden),
            norm1=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size"), names=("fc0", "fc1")),
        )
        + attention.children,
        attention=attention.attention,
    )


def vision_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    grid = (config.integer("init_pos_emb_height"), config.integer("init_pos_emb_width"), hidden)
    patches = Module(
        "PatchEmbedding",
        children=children(
            proj=convolution(3, hidden, height_and_width(config, "patch_size")),
            pos_emb=Module("Position", (Tensor("weight", grid),), part="position"),
        ),
    )
    encoder = Module(
        "Encoder",
        children=children(
            blocks=uniform(block(config), config.integer("num_hidden_layers")), final_layernorm=layer_norm(hidden)
        ),
    )
    return in_part(Module("VisionModel", children=children(patch_embed=patches, encoder=encoder)), "vision")


def build(config: ModelConfig) -> Module:
    vision, text = config.nested_config("vision_config"), config.nested_config("text_config")
    rows, columns = height_and_width(vision, "merge_kernel_size")
    features, hidden = vision.integer("hidden_size"), text.integer("hidden_size")
    joined = features * rows * columns
    parts: dict[str, Module | Stack | None]
    if config.model_type == "locateanything":
        maps = {"0": layer_norm(joined), "1": linear(joined, hidden), "3": linear(hidden, hidden)}
        parts = {
            "vision_model": vision_model(vision),
            "language_model": causal_model(config, "text_config"),
            "mlp1": projector({**maps}),
        }
    else:
        language = deepseek_remote.build(replace(text, architecture="DeepseekV3ForCausalLM"))
        maps = {
            "pre_norm": layer_norm(features),
            "linear_1": linear(joined, joined),
            "linear_2": linear(joined, hidden),
        }
        parts = {
            "vision_tower": vision_model(vision),
            "multi_modal_projector": projector({**maps}),
            "language_model": below(language, "language_model"),
        }
    return Module(config.architecture, children=named(parts))
