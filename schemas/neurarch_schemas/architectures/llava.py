"""LLaVA and the models that keep its layout: a vision tower, a small projector and any language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    either_tied,
    feature_layers,
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children

MODEL_TYPES = (
    "llava",
    "llava_next",
    "llava_next_video",
    "llava_onevision",
    "vipllava",
    "video_llava",
    "mistral3",
    "mistral_large4",
    "lighton_ocr",
    "aya_vision",
    "cohere2_vision",
)

_TIED_LIKE_TEXT = ("llava", "llava_next_video", "llava_onevision")
_PATCH_MERGER = ("mistral3", "mistral_large4", "lighton_ocr")
_IMAGE_NEWLINE = ("llava_next", "llava_next_video", "llava_onevision")


def multimodal_projector(config: ModelConfig) -> Module:
    vision, text = config.nested_config("vision_config"), config.nested_config("text_config")
    features, hidden = vision.integer("hidden_size"), text.integer("hidden_size")
    inputs = features * feature_layers(config)
    parts: dict[str, Module | Stack | None] = {}
    if config.model_type == "vipllava":
        parts = {"projector_layernorm": layer_norm(inputs), **two_layer_projector(inputs, hidden)}
    elif config.model_type in _PATCH_MERGER:
        merged = features * config.integer("spatial_merge_size") ** 2
        merger = Module("PatchMerger", children=children(merging_layer=linear(merged, features, bias=False)))
        inputs = features if config.model_type == "lighton_ocr" else inputs
        bias = config.model_type != "lighton_ocr" and config.flag("multimodal_projector_bias")
        layers = two_layer_projector(inputs, hidden, bias=bias)
        parts = {"norm": rms_norm(features), "patch_merger": merger, **layers}
    elif config.model_type in ("aya_vision", "cohere2_vision"):
        # A gate halves the inner width; neighbouring patches are joined before.
        joined = features * config.integer("downsample_factor") ** 2
        inner = config.integer("alignment_intermediate_size", hidden)
        parts = {
            "layernorm": layer_norm(joined) if config.model_type == "aya_vision" else None,
            "linear_1": linear(joined, inner),
            "linear_2": linear(inner // 2, hidden),
        }
    else:
        parts = two_layer_projector(inputs, hidden, bias=config.flag("multimodal_projector_bias", True))
    return projector(parts)


def resampler(config: ModelConfig) -> Module | None:
    """LLaVA-NeXT-Video pools patches: by average or maximum, or with a convolution that has weights."""
    mode = config.text("spatial_pool_mode", "average")
    if mode not in ("average", "max", "conv"):
        raise CannotBuild(f"spatial_pool_mode {mode!r} is not average, max or conv", ("spatial_pool_mode",))
    if mode != "conv":
        return None
    width, stride = config.nested_config("vision_config").integer("hidden_size"), config.integer("spatial_pool_stride")
    outputs = config.integer("spatial_pool_out_channels", width)
    return projector({"pool": convolution(width, outputs, (stride, stride))})


def build(config: ModelConfig) -> Module:
    parts: dict[str, Module | Stack | None]
    if config.model_type == "video_llava":
        parts = {"video_tower": tower(config), "image_tower": tower(config)}
    else:
        parts = {"vision_tower": tower(config)}
    if config.model_type == "lighton_ocr":
        parts = {"vision_encoder": tower(config), "vision_projection": multimodal_projector(config)}
    else:
        parts["multi_modal_projector"] = multimodal_projector(config)
    parts["language_model"] = text_model(config)
    if config.model_type == "llava_next_video":
        parts["vision_resampler"] = resampler(config)
    hidden = config.nested_config("text_config").integer("hidden_size")
    newline = (Tensor("image_newline", (hidden,)),) if config.model_type in _IMAGE_NEWLINE else ()
    tied = either_tied(config) if config.model_type in _TIED_LIKE_TEXT else None
    return with_output_head(config, parts, tensors=newline, tied=tied)
