"""GLM-Image: a language model that writes image codes, a vision encoder, and the codebook of an image tokenizer."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.image_codec import codebook
from neurarch_schemas.modules.layers import convolution, layer_norm, position_embedding
from neurarch_schemas.modules.tree import Module, children
from neurarch_schemas.modules.vision import fused_vision_attention, patch_count

MODEL_TYPES = ("glm_image", "glm_image_vision", "glm_image_vqmodel")


def vision_model(config: ModelConfig) -> Module:
    hidden, patch = config.integer("hidden_size"), config.integer("patch_size")
    layer = Module(
        "VisionBlock",
        children=children(
            norm1=layer_norm(hidden),
            norm2=layer_norm(hidden),
            attn=fused_vision_attention(hidden, config.integer("num_heads"), bias=config.flag("attention_bias")),
            mlp=mlp(hidden, config.integer("intermediate_size")),
        ),
    )
    positions = Module(
        "Positions", children=children(position_embedding=position_embedding(patch_count(config), hidden))
    )
    patches = Module(
        "PatchEmbedding",
        children=children(proj=convolution(config.integer("in_channels"), hidden, (patch, patch))),
        part="embedding",
    )
    return Module(
        "VisionModel",
        children=children(embeddings=positions, patch_embed=patches, blocks=uniform(layer, config.integer("depth"))),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "glm_image_vision":
        return vision_model(config)
    if config.model_type == "glm_image_vqmodel":
        latent, width = config.integer("latent_channels"), config.integer("embed_dim")
        return Module(
            "ImageCodebook",
            children=children(
                quantize=codebook(config.integer("num_embeddings"), width),
                quant_conv=convolution(latent, width, (1, 1)),
                post_quant_conv=convolution(width, latent, (1, 1)),
            ),
        )
    return with_output_head(
        config,
        {
            "visual": tower(config),
            "language_model": text_model(config),
            "vqmodel": tower(config, "vq_config"),
        },
        vocabulary=config.nested_config("text_config").integer("vision_vocab_size"),
        tied=False,
    )
