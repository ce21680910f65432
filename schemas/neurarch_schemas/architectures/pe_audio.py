"""Perception Encoder for audio (PE-AV, arXiv:2512.19687): DAC's encoder under a transformer, contrasted with text."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested, dac
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import convolution, group_norm, layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack

MODEL_TYPES = ("pe_audio", "pe_audio_encoder")


def layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = config.integer("head_dim", hidden // heads)
    mixer = attention(
        hidden,
        heads,
        config.integer("num_key_value_heads", heads),
        dim,
        bias=config.flag("attention_bias"),
        extra={"q_norm": rms_norm(dim), "k_norm": rms_norm(dim)},
        qk_norm=True,
        kind="encoder",
        cached=False,
    )
    parts: dict[str, Module | Stack | None] = {
        "self_attn": mixer,
        "mlp": gated_mlp(hidden, config.integer("intermediate_size")),
        "input_layernorm": rms_norm(hidden),
        "post_attention_layernorm": rms_norm(hidden),
    }
    return Module("EncoderLayer", children=named(parts))


def patch_embedder(hidden: int) -> Module:
    """A residual block over neighbouring frames, and a vector for the class token."""
    block = Module(
        "ConvolutionBlock",
        children=named({"groupnorm": group_norm(hidden), "project": convolution(hidden, hidden, (3,))}),
    )
    residual = Module("ResidualBlock", children=(("block1", block), ("block2", block)))
    return Module(
        "PatchEmbedder",
        (Tensor("class_embedding", (1, 1, hidden)),),
        (("resnet_block", residual),),
        part="convolution",
    )


def encoder(config: ModelConfig) -> Module:
    hidden, codec = config.integer("hidden_size"), config.nested_config("dac_config")
    derived = codec.integer("encoder_hidden_size") << len(codec.integers("downsampling_ratios"))
    width, dim = codec.integer("hidden_size", derived), codec.integer("codebook_dim")
    parts: dict[str, Module | Stack | None] = {
        "embedder.dac_encoder": dac.encoder(codec, width),
        "embedder.bottleneck": convolution(width, dim, (1,)),
        "embedder.data_proj": linear(dim, hidden),
        "patch_embedder": patch_embedder(hidden),
        "layers": stack(layer(config), times=config.integer("num_hidden_layers")),
        "norm": rms_norm(hidden),
        "output": linear(hidden, hidden, bias=False),
    }
    return Module("AudioEncoder", children=named(parts))


def contrastive_head(inputs: int, outputs: int) -> Module:
    parts = {"layer_norm": layer_norm(inputs), "proj": linear(inputs, outputs, bias=False)}
    return Module("ContrastiveHead", children=named(parts), part="head")


def build(config: ModelConfig) -> Module:
    if config.model_type == "pe_audio_encoder":
        return encoder(config)
    if config.architecture not in ("PeAudioModel", "PeAudioFrameLevelModel"):
        raise unknown_head(config.architecture)
    audio, text = config.nested_config("audio_config"), config.nested_config("text_config")
    words = text.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "text_model": build_nested(config, "text_config"),
        "audio_encoder": in_part(encoder(audio), "audio"),
        "text_audio_head": contrastive_head(words, words),
        "audio_head": contrastive_head(audio.integer("hidden_size"), words),
    }
    scales = (Tensor("text_audio_logit_scale", (1,)), Tensor("text_audio_logit_bias", (1,)))
    return Module("Model", scales, named(parts))
