"""The vision encoders of CLIP, SigLIP, SigLIP 2, Idefics and Pixtral, alone and as towers of larger models."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import clip_layer, height_and_width, patch_count, torch_attention, vision_attention

MODEL_TYPES = (
    "clip_vision_model",
    "siglip_vision_model",
    "siglip2_vision_model",
    "idefics2_vision",
    "idefics3_vision",
    "smolvlm_vision",
    "cosmos3_edge_vision",
    "pixtral",
)

_CLIP = ("clip_vision_model", "git_vision_model", "idefics_vision", "kosmos_2_vision_model")
_FLATTENED = ("siglip2_vision_model", "cosmos3_edge_vision")
_POOLED = ("siglip_vision_model", "siglip2_vision_model")


def embeddings(config: ModelConfig) -> Module:
    """Patches and learned positions; CLIP has a class token, SigLIP 2 takes flattened patches of any image."""
    hidden, channels = config.integer("hidden_size"), config.integer("num_channels")
    kernel = height_and_width(config, "patch_size")
    clip, flat = config.model_type in _CLIP, config.model_type in _FLATTENED
    if flat:
        patches = linear(channels * kernel[0] * kernel[1], hidden)
    else:
        patches = convolution(channels, hidden, kernel, bias=not clip)
    positions = config.integer("num_patches") if flat else patch_count(config) + clip
    return Module(
        "Embeddings",
        (Tensor("class_embedding", (hidden,)),) if clip else (),
        children(patch_embedding=patches, position_embedding=position_embedding(positions, hidden)),
        part="embedding",
    )


def attention_pooling(config: ModelConfig) -> Module:
    """SigLIP's head: one learned query attends to all patches."""
    hidden = config.integer("hidden_size")
    return Module(
        "AttentionPooling",
        (Tensor("probe", (1, 1, hidden)),),
        children(
            attention=torch_attention(hidden, config.integer("num_attention_heads")),
            layernorm=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size")),
        ),
        part="head",
    )


def vision_transformer(config: ModelConfig) -> Module:
    hidden, clip = config.integer("hidden_size"), config.model_type in _CLIP
    layer = clip_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    encoder = Module("Encoder", children=children(layers=uniform(layer, config.integer("num_hidden_layers"))))
    pooling = config.model_type in _POOLED and config.flag("vision_use_head", True)
    return Module(
        "VisionModel",
        children=children(
            embeddings=embeddings(config),
            pre_layrnorm=layer_norm(hidden) if clip else None,
            encoder=encoder,
            post_layernorm=layer_norm(hidden),
            head=attention_pooling(config) if pooling else None,
        ),
        width_out=hidden,
    )


def pixtral(config: ModelConfig) -> Module:
    """Rotary positions in two dimensions, RMSNorm, gated MLPs and no biases."""
    hidden = config.integer("hidden_size")
    layer = Module(
        "EncoderLayer",
        children=children(
            attention_norm=rms_norm(hidden),
            feed_forward=gated_mlp(hidden, config.integer("intermediate_size")),
            attention=vision_attention(
                hidden,
                config.integer("num_attention_heads"),
                names=("q_proj", "k_proj", "v_proj", "o_proj"),
                bias=False,
                position="rope",
            ),
            ffn_norm=rms_norm(hidden),
        ),
    )
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"), bias=False)
    return Module(
        "VisionModel",
        children=children(
            patch_conv=patches,
            ln_pre=rms_norm(hidden),
            transformer=Module(
                "Encoder", children=children(layers=uniform(layer, config.integer("num_hidden_layers")))
            ),
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    model = pixtral(config) if config.model_type == "pixtral" else vision_transformer(config)
    if head_name(config.architecture) == "Model" or config.architecture.endswith("VisionTransformer"):
        return model
    if config.architecture == "CLIPVisionModelWithProjection":
        projection = linear(
            config.integer("hidden_size"), config.integer("projection_dim"), bias=False, part="projector"
        )
        return Module(config.architecture, children=children(vision_model=model, visual_projection=projection))
    raise unknown_head(config.architecture)
