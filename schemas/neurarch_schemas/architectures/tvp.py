"""TVP (arXiv:2303.04995): a convolutional backbone over padded frames and BERT's encoder, with learned prompts."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.layers import (
    convolution,
    embedding,
    layer_norm,
    linear,
    position_embedding,
    token_embedding,
)
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named

MODEL_TYPES = ("tvp",)

# Tokens of the learned text prompt and channels of a frame: fixed in the model code.
PROMPT_TOKENS = 10
COLOURS = 3


def layer(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    attention = encoder_attention(
        hidden,
        config.integer("num_attention_heads"),
        names=("query", "key", "value", "dense"),
        out_inputs=hidden,
        position="learned",
        extra={"layer_norm": layer_norm(hidden)},
    )
    parts: dict[str, Module | Stack | None] = {
        "attention": attention,
        "intermediate.dense": linear(hidden, inner).with_(part="feed-forward"),
        "output.dense": linear(inner, hidden).with_(part="feed-forward"),
        "output.layer_norm": layer_norm(hidden),
    }
    return Module("EncoderLayer", children=named(parts))


def frame_prompt(config: ModelConfig) -> Module:
    """Learned borders around every frame."""
    kind = config.text("visual_prompter_type")
    if kind != "framepad":  # the other one reads a setting that the config class does not have
        raise CannotBuild(f"visual_prompter_type {kind!r} is not known", ("visual_prompter_type",))
    frames, border = config.integer("num_frames"), config.integer("visual_prompt_size")
    side = config.integer("max_img_size")
    across, beside = (border, side), (side - 2 * border, border)
    sizes = {"pad_up": across, "pad_down": across, "pad_left": beside, "pad_right": beside}
    tensors = tuple(Tensor(name, (1, frames, COLOURS, *size)) for name, size in sizes.items())
    return Module("FramePrompt", tensors, part="vision")


def backbone(config: ModelConfig) -> Module:
    hidden, positions = config.integer("hidden_size"), config.integer("max_position_embeddings")
    channels = config.nested_config("backbone_config").integers("hidden_sizes")[-1]
    vision: dict[str, Module | Stack | None] = {
        "backbone": build_nested(config, "backbone_config"),
        "grid_encoder_conv": convolution(channels, hidden, (3, 3), bias=False),
    }
    words: dict[str, Module | Stack | None] = {
        "word_embeddings": token_embedding(config.integer("vocab_size"), hidden),
        "position_embeddings": position_embedding(positions, hidden),
        "token_type_embeddings": embedding(config.integer("type_vocab_size"), hidden),
        "layer_norm": layer_norm(hidden),
    }
    grid: dict[str, Module | Stack | None] = {
        "position_embeddings": position_embedding(positions, hidden),
        "row_position_embeddings": position_embedding(config.integer("max_grid_row_position_embeddings"), hidden),
        "col_position_embeddings": position_embedding(config.integer("max_grid_col_position_embeddings"), hidden),
        "token_type_embeddings": embedding(1, hidden),
        "layer_norm": layer_norm(hidden),
    }
    parts: dict[str, Module | Stack | None] = {
        "vision_model": in_part(Module("VisionModel", children=named(vision)), "vision"),
        "embeddings": Module("Embeddings", children=named(words), part="embedding"),
        "visual_embeddings": Module("Embeddings", children=named(grid), part="embedding"),
        "encoder.layer": uniform(layer(config), config.integer("num_hidden_layers")),
        "pooler": pooler(hidden),
        "visual_prompter": frame_prompt(config),
    }
    return Module("Model", (Tensor("text_prompt", (1, PROMPT_TOKENS, hidden)),), named(parts))


def build(config: ModelConfig) -> Module:
    head, hidden, model = head_name(config.architecture), config.integer("hidden_size"), backbone(config)
    if head == "Model":
        return model
    if head != "ForVideoGrounding":
        raise unknown_head(config.architecture)
    # Start and end of the moment.
    top = {"layer_0": linear(hidden, 2 * hidden), "layer_1": linear(2 * hidden, 2)}
    parts: dict[str, Module | Stack | None] = {
        "model": model,
        "video_grounding_head": Module("GroundingHead", children=named(top), part="head"),
    }
    return Module(config.architecture, children=named(parts))
