"""RADIO (C-RADIO, arXiv:2312.06709) and Nemotron-H Omni, which puts it before a hybrid language model.

In Nemotron-H Omni pixels arrive normalised, so the encoder's own conditioner is left out.
"""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.composite import projector, tower
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("radio", "nemotron_h_omni")


def feed_forward(config: ModelConfig, hidden: int) -> Module:
    """An MLP, or a gated one of two thirds of its width rounded up to a multiple of 8."""
    inner = int(hidden * config.number("mlp_ratio"))
    if not config.flag("use_swiglu_ffn"):
        return mlp(hidden, inner)
    return gated_mlp(hidden, (int(inner * 2 / 3) + 7) // 8 * 8, bias=True)


def vision_encoder(config: ModelConfig, *, conditioned: bool) -> Module:
    hidden, patch = config.integer("hidden_size"), config.integer("patch_size")
    mixer = attention(
        hidden,
        config.integer("num_attention_heads"),
        head_dim=config.optional_integer("head_dim"),
        bias=config.flag("qkv_bias"),
        out_bias=True,
        kind="encoder",
        position="learned",
        cached=False,
    )
    scale = Module("LayerScale", (Tensor("lambda1", (hidden,)),))
    layer = Module(
        "EncoderLayer",
        children=children(
            norm1=layer_norm(hidden),
            attention=mixer,
            layer_scale1=scale,
            norm2=layer_norm(hidden),
            mlp=feed_forward(config, hidden),
            layer_scale2=scale,
        ),
    )
    pixels = config.integer("num_channels") * patch * patch
    frames, side = config.optional_integer("video_temporal_patch_size"), config.integer("max_img_size") // patch
    first = config.integer("num_cls_tokens") + config.integer("num_registers")
    patches = Module(
        "PatchEmbeddings",
        (Tensor("position_embedding", (1, side * side, hidden)), Tensor("cls_register_token", (first, hidden))),
        children(
            patch_projection=linear(pixels, hidden, bias=False),
            video_patch_projection=None if frames is None else linear(frames * pixels, hidden, bias=False),
        ),
        part="embedding",
    )
    statistics = tuple(Tensor(name, (len(config.items(name)), 1, 1), "buffer") for name in ("norm_mean", "norm_std"))
    summaries = len(config.items("summary_idxs")) if config.is_set("summary_idxs") else 2
    encoder = Module("Encoder", children=children(layer=uniform(layer, config.integer("num_hidden_layers"))))
    return Module(
        "VisionModel",
        (Tensor("summary_idxs", (summaries,), "buffer"),),
        children(
            input_conditioner=Module("InputConditioner", statistics) if conditioned else None,
            embeddings=patches,
            encoder=encoder,
        ),
        width_out=hidden,
    )


def bridge(inputs: int, inner: int, outputs: int, *, bias: bool = False) -> Module:
    return projector(
        {
            "layer_norm": rms_norm(inputs),
            "linear_1": linear(inputs, inner, bias),
            "linear_2": linear(inner, outputs, bias),
        }
    )


def omni(config: ModelConfig) -> Module:
    """The language model is a whole causal class. With extra prediction layers in it, features get one norm more."""
    text, audio = config.nested_config("text_config"), config.nested.get("audio_config")
    hidden, features = text.integer("hidden_size"), config.integer("vision_hidden_size")
    ratio = config.number("downsample_ratio")
    if not 0 < ratio <= 1:
        raise CannotBuild("downsample_ratio must be between 0 and 1", ("downsample_ratio",))
    heard = None
    if audio is not None:
        inner, bias = audio.integer("projection_hidden_size"), audio.flag("projection_bias")
        heard = bridge(audio.integer("hidden_size"), inner, hidden, bias=bias)
    vision = vision_encoder(config.nested_config("vision_config"), conditioned=False)
    extra_norm = layer_norm(features) if text.integer("num_nextn_predict_layers", 0) > 0 else None
    return Module(
        config.architecture,
        children=children(
            language_model=build_nested(config, "text_config", "NemotronHForCausalLM"),
            vision_model=in_part(vision, "vision"),
            vision_final_layernorm=extra_norm,
            multi_modal_projector=bridge(
                features * int(1 / ratio) ** 2, config.integer("projector_hidden_size"), hidden
            ),
            audio_tower=tower(config, "audio_config", "audio") if audio is not None else None,
            embed_audio=heard,
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.architecture == "RadioEncoder":
        raise unknown_head(config.architecture)
    return omni(config) if config.model_type == "nemotron_h_omni" else vision_encoder(config, conditioned=True)
