"""Phi-3-vision and Phi-3.5-vision with the code that came with them: CLIP's large encoder of 336 pixels, Phi-3.

The total equals the published 4,146,621,440.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.attention import fused_attention
from neurarch_schemas.modules.feed_forward import fused_gated_mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import clip_layer

MODEL_TYPES = ("phi3_v",)


def clip_encoder() -> Module:
    """openai/clip-vit-large-patch14-336, whose sizes stand in the code and not in the config."""
    hidden = 1024
    embeddings = Module(
        "Embeddings",
        (Tensor("class_embedding", (hidden,)),),
        children(
            patch_embedding=convolution(3, hidden, (14, 14), bias=False),
            position_embedding=position_embedding(24 * 24 + 1, hidden),
        ),
    )
    encoder = Module("Encoder", children=children(layers=uniform(clip_layer(hidden, 16, 4096), 24)))
    model = Module(
        "VisionModel",
        children=children(
            embeddings=embeddings,
            pre_layrnorm=layer_norm(hidden),
            encoder=encoder,
            post_layernorm=layer_norm(hidden),
        ),
    )
    return in_part(Module("ImageProcessor", children=children(vision_model=model)), "vision")


def image_embedding(config: ModelConfig) -> Module:
    processor, layout = config.mapping("img_processor"), config.mapping("embd_layer")
    if processor.get("name") != "clip_vision_model" or processor.get("image_dim_out") != 1024:
        raise CannotBuild("only CLIP's large encoder is known in this model", ("img_processor",))
    if not layout.get("use_hd_transform") or not layout.get("with_learnable_separator"):
        raise CannotBuild("only the embedding of crops with learned separators is known", ("embd_layer",))
    if layout.get("projection_cls") != "mlp":
        raise CannotBuild("only a projection of two layers is known", ("embd_layer",))
    joined, hidden = 4 * 1024, config.integer("hidden_size")
    separators = (Tensor("glb_GN", (1, 1, joined)), Tensor("sub_GN", (1, 1, 1, joined)))
    projection = projector({"0": linear(joined, hidden), "2": linear(hidden, hidden)})
    return Module(
        "ImageEmbedding",
        separators,
        children(img_processor=clip_encoder(), img_projection=projection),
        part="projector",
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    mixer = fused_attention(
        hidden,
        config.integer("num_attention_heads"),
        config.optional_integer("num_key_value_heads"),
        window=config.optional_integer("sliding_window"),
    )
    block = decoder_layer(hidden, mixer, fused_gated_mlp(hidden, config.integer("intermediate_size")))
    return language_model(
        config,
        uniform(block, config.integer("num_hidden_layers")),
        before={"vision_embed_tokens": image_embedding(config)},
    )
