"""Janus: a vision encoder for seeing, a VQ autoencoder for drawing, each with an aligner to the language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.image_codec import codebook, image_decoder, image_encoder
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, children
from neurarch_schemas.modules.vision import patch_count, vision_attention

MODEL_TYPES = ("janus", "janus_vision_model", "janus_vqgan")


def vision_model(config: ModelConfig) -> Module:
    hidden, patch = config.integer("hidden_size"), config.integer("patch_size")
    norms = {"q_norm": layer_norm(hidden), "k_norm": layer_norm(hidden)} if config.flag("use_qk_norm") else {}
    mixer = vision_attention(
        hidden,
        config.integer("num_attention_heads"),
        names=("q_proj", "k_proj", "v_proj", "projection_layer"),
        bias=config.flag("attention_bias"),
        out_bias=True,
        extra={**norms},
    )
    layer = Module(
        "EncoderLayer",
        children=children(
            layer_norm1=layer_norm(hidden),
            self_attn=mixer,
            layer_norm2=layer_norm(hidden),
            mlp=mlp(hidden, int(hidden * config.number("mlp_ratio"))),
        ),
    )
    patches = Module(
        "PatchEmbedding",
        children=children(
            patch_embedding=convolution(config.integer("num_channels"), hidden, (patch, patch)),
            position_embedding=position_embedding(patch_count(config), hidden),
        ),
        part="embedding",
    )
    encoder = Module("Encoder", children=children(layers=uniform(layer, config.integer("num_hidden_layers"))))
    return Module(
        "VisionModel",
        children=children(embeddings=patches, encoder=encoder, post_layernorm=layer_norm(hidden)),
        width_out=hidden,
    )


def image_tokenizer(config: ModelConfig) -> Module:
    latent, width = config.integer("latent_channels"), config.integer("embed_dim")
    base, multipliers = config.integer("base_channels"), config.integers("channel_multiplier")
    blocks = config.integer("num_res_blocks")
    if not blocks:
        raise CannotBuild("a tokenizer without residual blocks is not known", ("num_res_blocks",))
    last = [index == len(multipliers) - 1 for index in range(len(multipliers))]
    encoded = 2 * latent if config.flag("double_latent") else latent
    return Module(
        "ImageTokenizer",
        children=children(
            encoder=image_encoder(config.integer("in_channels"), base, multipliers, blocks, encoded, last),
            quantize=codebook(config.integer("num_embeddings"), width),
            quant_conv=convolution(latent, width, (1, 1)),
            post_quant_conv=convolution(width, latent, (1, 1)),
            decoder=image_decoder(latent, base, multipliers, blocks + 1, config.integer("out_channels"), last[::-1]),
        ),
    )


def aligner(inputs: int, outputs: int, depth: int) -> Module:
    return projector({"fc1": linear(inputs, outputs), "hidden_layers": uniform(linear(outputs, outputs), depth - 1)})


def build(config: ModelConfig) -> Module:
    if config.model_type == "janus_vision_model":
        return vision_model(config)
    if config.model_type == "janus_vqgan":
        return image_tokenizer(config)
    vision, codec = config.nested_config("vision_config"), config.nested_config("vq_config")
    width, outputs, entries = (
        codec.integer("embed_dim"),
        codec.integer("projection_dim"),
        codec.integer("num_embeddings"),
    )
    head = {
        "proj_out": linear(codec.integer("image_token_embed_dim"), outputs),
        "vision_head": linear(outputs, entries),
    }
    parts: dict[str, Module | Stack | None] = {
        "vision_model": tower(config),
        "aligner": aligner(vision.integer("hidden_size"), vision.integer("projection_dim"), vision.integer("depth")),
        "vqmodel": tower(config, "vq_config"),
        "generation_embeddings": embedding(entries, width),
        "generation_aligner": aligner(width, outputs, codec.integer("num_hidden_layers")),
        "generation_head": projector({**head}),
        "language_model": text_model(config),
    }
    return with_output_head(config, parts)
