"""VideoPrism (arXiv:2402.13217): space and time encoded one after the other, alone or beside a text encoder."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import height_and_width, vit_attention

MODEL_TYPES = ("videoprism", "videoprism_vision_model")


def layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = config.integer("head_dim", hidden // heads)
    parts: dict[str, Module | Stack | None] = {
        "attention": vit_attention(hidden, heads, bias=config.flag("qkv_bias"), head_dim=dim),
        "layernorm_before": layer_norm(hidden),
        "layernorm_after": layer_norm(hidden),
        "mlp": mlp(hidden, config.integer("intermediate_size")),
    }
    return Module("EncoderLayer", children=named(parts))


def vision_model(config: ModelConfig) -> Module:
    hidden, tubelet = config.integer("hidden_size"), config.integers("tubelet_size")
    if len(tubelet) != 3:
        raise CannotBuild("tubelet_size must have three numbers", ("tubelet_size",))
    height, width = height_and_width(config, "image_size")
    patches = (height // tubelet[1]) * (width // tubelet[2])
    projection = convolution(config.integer("num_channels"), hidden, tubelet)
    positions = Tensor("position_embeddings", (1, patches, hidden))
    frames = Tensor("position_embeddings", (1, config.integer("num_frames"), hidden))
    space = Module("Embeddings", (positions,), (("patch_embeddings.projection", projection),), part="embedding")
    parts: dict[str, Module | Stack | None] = {
        "layernorm1": layer_norm(hidden),
        "layernorm2": layer_norm(hidden),
        "spatial_embeddings": space,
        "temporal_embeddings": Module("Embeddings", (frames,), part="position"),
        "spatial_layers": uniform(layer(config), config.integer("num_spatial_layers")),
        "temporal_layers": uniform(layer(config), config.integer("num_temporal_layers")),
    }
    return Module("VisionModel", children=named(parts))


def pooling_head(config: ModelConfig) -> Module:
    """One learned query; the heads divide the intermediate size, each channel of a head has its own scale."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = config.integer("intermediate_size") // heads
    tensors = (Tensor("per_dim_scale", (dim,)), Tensor("pooling_attention_query", (1, 1, hidden)))
    return vit_attention(
        hidden, heads, bias=config.flag("qkv_bias"), head_dim=dim, position="none", tensors=tensors
    ).with_(type="AttentionPooling")


def text_model(config: ModelConfig) -> Module:
    """Computed positions, stored in the checkpoint, and a class token."""
    hidden, positions = config.integer("hidden_size"), config.integer("max_position_embeddings")
    tensors = (
        Tensor("cls_emb", (1, 1, hidden)),
        Tensor("position_embedding", (positions, hidden), "buffer"),
        Tensor("position_ids", (1, positions), "buffer"),
    )
    words = token_embedding(config.integer("vocab_size"), hidden)
    parts: dict[str, Module | Stack | None] = {
        "embeddings": Module("Embeddings", tensors, (("token_embedding", words),), part="embedding"),
        "layers": uniform(layer(config), config.integer("num_hidden_layers")),
        "layernorm": layer_norm(hidden),
    }
    return Module("TextModel", children=named(parts))


def pooled(config: ModelConfig, auxiliary: bool) -> dict[str, Module | Stack | None]:
    extra = uniform(layer(config), config.integer("num_auxiliary_layers")) if auxiliary else None
    return {
        "vision_model": vision_model(config),
        "auxiliary_layers": extra,
        "head": pooling_head(config),
        "head_layernorm": layer_norm(config.integer("hidden_size")),
    }


def build(config: ModelConfig) -> Module:
    name = config.architecture
    if config.model_type == "videoprism" and name.endswith("ClipModel"):
        video = Module("VideoModel", children=named(pooled(config.nested_config("vision_config"), auxiliary=True)))
        text = text_model(config.nested_config("text_config"))
        return Module("Model", children=(("video_model", in_part(video, "vision")), ("text_model", text)))
    if config.model_type == "videoprism_vision_model":
        if name.endswith("VideoModel"):
            return Module("VideoModel", children=named(pooled(config, auxiliary=True)))
        if head_name(name) == "Model":
            return vision_model(config)
        if head_name(name) == "ForVideoClassification":
            classifier = linear(config.integer("hidden_size"), label_count(config), part="head")
            return Module(name, children=named({**pooled(config, auxiliary=False), "classifier": classifier}))
    raise unknown_head(name)
