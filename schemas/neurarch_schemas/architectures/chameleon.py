"""Chameleon: a decoder with a layer norm of each head's queries and keys, and a VQ encoder of images."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import tower, with_output_head
from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.image_codec import codebook, image_encoder
from neurarch_schemas.modules.layers import convolution, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children

MODEL_TYPES = ("chameleon", "chameleon_vqgan")


def image_tokenizer(config: ModelConfig) -> Module:
    """Levels whose resolution is one of ``attn_resolutions`` attend after each block."""
    latent, width = config.integer("latent_channels"), config.integer("embed_dim")
    multipliers = config.integers("channel_multiplier")
    attending = config.get("attn_resolutions")
    wanted = attending if isinstance(attending, list) and config.get("attn_type") == "vanilla" else []
    resolution, looks = config.integer("resolution"), []
    for _ in multipliers:
        looks.append(resolution in wanted)
        resolution //= 2
    encoder = image_encoder(
        config.integer("in_channels"),
        config.integer("base_channels"),
        multipliers,
        config.integer("num_res_blocks"),
        2 * latent if config.flag("double_latent") else latent,
        looks,
    )
    return Module(
        "ImageTokenizer",
        children=children(
            encoder=encoder,
            quantize=codebook(config.integer("num_embeddings"), width),
            quant_conv=convolution(latent, width, (1, 1)),
            post_quant_conv=convolution(width, latent, (1, 1)),
        ),
    )


def head_norm(heads: int, dim: int) -> Module:
    tensors = (Tensor("weight", (heads, dim)), Tensor("bias", (heads, dim)))
    return Module("LayerNorm", tensors, part="norm", width_in=dim, width_out=dim)


def build(config: ModelConfig) -> Module:
    if config.model_type == "chameleon_vqgan":
        return image_tokenizer(config)
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = hidden // heads
    mixer = self_attention(
        config,
        bias=config.flag("attention_bias"),
        divided=True,
        extra={
            "q_norm": head_norm(heads, dim),
            "k_norm": head_norm(config.integer("num_key_value_heads", heads), dim),
        },
    )
    layer = decoder_layer(hidden, mixer, feed_forward(config, bias=config.flag("mlp_bias")))
    parts: dict[str, Module | Stack | None] = {
        "embed_tokens": token_embedding(config.integer("vocab_size"), hidden),
        "layers": uniform(layer, config.integer("num_hidden_layers")),
        "norm": rms_norm(hidden),
        "vqmodel": tower(config, "vq_config"),
    }
    return with_output_head(config, parts, text=config, embedding="embed_tokens.weight")
