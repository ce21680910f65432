"""InternVL and Qianfan-OCR: a vision transformer with layer scale, neighbouring patches joined, a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children
from neurarch_schemas.modules.vision import height_and_width, vision_attention

MODEL_TYPES = ("internvl", "internvl_vision", "qianfan_ocr", "qianfan_ocr_vision")


def embeddings(config: ModelConfig) -> Module:
    hidden, patch = config.integer("hidden_size"), height_and_width(config, "patch_size")
    image = height_and_width(config, "image_size")
    positions = (image[0] // patch[0]) * (image[1] // patch[1]) + 1
    tensors = [Tensor("cls_token", (1, 1, hidden))]
    if config.flag("use_mask_token"):
        tensors.append(Tensor("mask_token", (1, 1, hidden)))
    if config.flag("use_absolute_position_embeddings"):
        tensors.append(Tensor("position_embeddings", (1, positions, hidden)))
    patches = Module(
        "PatchEmbeddings", children=children(projection=convolution(config.integer("num_channels"), hidden, patch))
    )
    return Module("Embeddings", tuple(tensors), children(patch_embeddings=patches), part="embedding")


def layer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    kind = config.text("norm_type", "layer_norm")
    if kind not in ("layer_norm", "rms_norm"):
        raise CannotBuild(f"norm_type {kind!r} is neither layer_norm nor rms_norm", ("norm_type",))
    norm = layer_norm(hidden) if kind == "layer_norm" else rms_norm(hidden)
    qk_norms: dict[str, Module | Stack | None] = {}
    if config.flag("use_qk_norm"):
        qk_norms = {"q_norm": rms_norm(hidden), "k_norm": rms_norm(hidden)}
    return Module(
        "EncoderLayer",
        (Tensor("lambda_1", (hidden,)), Tensor("lambda_2", (hidden,))),
        children(
            attention=vision_attention(
                hidden,
                config.integer("num_attention_heads"),
                names=("q_proj", "k_proj", "v_proj", "projection_layer"),
                bias=config.flag("attention_bias"),
                out_bias=True,
                extra=qk_norms,
            ),
            mlp=mlp(hidden, config.integer("intermediate_size")),
            layernorm_before=norm,
            layernorm_after=norm,
        ),
    )


def vision_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    blocks = uniform(layer(config), config.integer("num_hidden_layers"))
    internvl = config.model_type == "internvl_vision"
    return Module(
        "VisionModel",
        children=children(
            embeddings=embeddings(config),
            encoder=Module("Encoder", children=children(layer=blocks)) if internvl else None,
            layers=None if internvl else blocks,
            layernorm=None if config.flag("use_mean_pooling") else layer_norm(hidden),
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type.endswith("_vision"):
        return vision_model(config)
    ratio = config.number("downsample_ratio")
    joined = config.nested_config("vision_config").integer("hidden_size") * int(1 / ratio) ** 2
    hidden = config.nested_config("text_config").integer("hidden_size")
    parts = {
        "vision_tower": tower(config),
        "multi_modal_projector": projector({"layer_norm": layer_norm(joined), **two_layer_projector(joined, hidden)}),
        "language_model": text_model(config),
    }
    return with_output_head(config, {**parts})
