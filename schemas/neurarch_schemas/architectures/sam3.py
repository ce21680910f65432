"""Segment Anything 3 (arXiv:2511.16719): a detector that follows text, a tracker as SAM 2's, and both together."""

from __future__ import annotations

from itertools import pairwise

from neurarch_schemas.architectures import build_nested, sam2
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.architectures.sam2 import POINTWISE, narrow_attention
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import at
from neurarch_schemas.modules.assembly import in_part, layers
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import (
    batch_norm,
    convolution,
    embedding,
    group_norm,
    layer_norm,
    linear,
    token_embedding,
    transposed_convolution,
)
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import clip_layer, height_and_width, patch_grid

MODEL_TYPES = (
    "sam3",
    "sam3_lite_text",
    "sam3_lite_text_text_model",
    "sam3_vit_model",
    "sam3_vision_model",
    "sam3_tracker",
    "sam3_tracker_video",
    "sam3_video",
)


def vit(config: ModelConfig) -> Module:
    """A ViT with rotary positions in windows and in whole images, beside a learned table."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    rows, columns = patch_grid(config, image="pretrain_image_size")
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"), bias=False)
    embeddings = Module(
        "Embeddings",
        (Tensor("position_embeddings", (1, rows * columns, hidden)),),
        named({"patch_embeddings.projection": patches}),
        part="embedding",
    )
    layer: dict[str, Module | Stack | None] = {
        "layer_norm1": layer_norm(hidden),
        "attention": narrow_attention(hidden, heads, hidden),
        "layer_norm2": layer_norm(hidden),
        "mlp": mlp(hidden, config.integer("intermediate_size")),
    }
    block = Module("Layer", children=named(layer))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": embeddings,
        "layer_norm": layer_norm(hidden),
        "layers": stack(block, times=config.integer("num_hidden_layers")),
    }
    return Module("VisionTransformer", children=named(parts))


def pyramid_level(inputs: int, outputs: int, scale: object) -> Module:
    """One map of the pyramid: the last features, four or two times as large, as they are, or half as large."""
    steps: dict[str, Module | Stack | None] = {}
    width = inputs
    if scale not in (4, 2, 1, 0.5):
        raise CannotBuild(f"a scale factor of {scale!r} is not known", ("scale_factors",))
    if scale in (4, 2):
        width = inputs // 2
        steps["scale_layers.0"] = transposed_convolution(inputs, width, (2, 2))
    if scale == 4:
        steps["scale_layers.2"] = transposed_convolution(width, inputs // 4, (2, 2))
        width = inputs // 4
    steps["proj1"] = convolution(width, outputs, POINTWISE)
    steps["proj2"] = convolution(outputs, outputs, (3, 3))
    return Module("PyramidLevel", children=named(steps), part="convolution")


def neck(config: ModelConfig) -> Module:
    inputs, outputs = config.nested_config("backbone_config").integer("hidden_size"), config.integer("fpn_hidden_size")
    levels = [pyramid_level(inputs, outputs, scale) for scale in config.items("scale_factors")]
    return Module("Neck", children=(("fpn_layers", stack(*levels)),))


def vision_model(config: ModelConfig) -> Module:
    backbone = build_nested(config, "backbone_config")
    return Module("VisionModel", children=(("backbone", backbone), ("neck", neck(config))))


def full_attention(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return narrow_attention(hidden, config.integer("num_attention_heads"), hidden)


def prompted_layer(config: ModelConfig) -> Module:
    """Attention within and to a second stream."""
    hidden = config.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "layer_norm1": layer_norm(hidden),
        "self_attn": full_attention(config),
        "cross_attn": full_attention(config),
        "layer_norm2": layer_norm(hidden),
        "mlp": mlp(hidden, config.integer("intermediate_size")),
        "layer_norm3": layer_norm(hidden),
    }
    return Module("EncoderLayer", children=named(parts))


def geometry_encoder(config: ModelConfig) -> Module:
    """Boxes as prompts: by their coordinates, by what they hold, by where they are."""
    hidden, side = config.integer("hidden_size"), config.integer("roi_size")
    parts: dict[str, Module | Stack | None] = {
        "label_embed": embedding(2, hidden),
        "cls_embed": embedding(1, hidden),
        "boxes_direct_project": linear(4, hidden),
        "boxes_pool_project": convolution(hidden, hidden, (side, side)),
        "boxes_pos_enc_project": linear(hidden + 2, hidden),
        "vision_layer_norm": layer_norm(hidden),
        "final_proj": linear(hidden, hidden),
        "prompt_layer_norm": layer_norm(hidden),
        "layers": stack(prompted_layer(config), times=config.integer("num_layers")),
        "output_layer_norm": layer_norm(hidden),
    }
    return Module("GeometryEncoder", children=named(parts))


def small_mlp(*widths: int) -> Module:
    """Linear maps between the widths, named layer1, layer2 ..."""
    steps = pairwise(widths)
    maps = {f"layer{number}": linear(*step) for number, step in enumerate(steps, start=1)}
    return Module("MLP", children=named({**maps}))


def detection_decoder(config: ModelConfig) -> Module:
    hidden, queries = config.integer("hidden_size"), config.integer("num_queries")
    layer: dict[str, Module | Stack | None] = {}
    for name in ("self_attn", "text_cross_attn", "vision_cross_attn"):
        layer[name] = full_attention(config)
        layer[f"{name}_layer_norm"] = layer_norm(hidden)
    layer["mlp"] = mlp(hidden, config.integer("intermediate_size"))
    layer["mlp_layer_norm"] = layer_norm(hidden)
    bias = small_mlp(2, hidden, config.integer("num_attention_heads"))
    parts: dict[str, Module | Stack | None] = {
        "layers": stack(Module("DecoderLayer", children=named(layer)), times=config.integer("num_layers")),
        "output_layer_norm": layer_norm(hidden),
        "box_head": small_mlp(hidden, hidden, hidden, 4),
        "query_embed": embedding(queries, hidden),
        "reference_points": embedding(queries, 4),
        "presence_token": embedding(1, hidden),
        "presence_head": small_mlp(hidden, hidden, hidden, 1),
        "presence_layer_norm": layer_norm(hidden),
        "ref_point_head": small_mlp(2 * hidden, hidden, hidden),
        "box_rpb_embed_x": bias,
        "box_rpb_embed_y": bias,
    }
    return Module("DetectionDecoder", children=named(parts))


def mask_decoder(config: ModelConfig) -> Module:
    hidden, count = config.integer("hidden_size"), config.integer("num_upsampling_stages")
    parts: dict[str, Module | Stack | None] = {
        "pixel_decoder.conv_layers": stack(convolution(hidden, hidden, (3, 3)), times=count),
        "pixel_decoder.norms": stack(group_norm(hidden), times=count),
        "mask_embedder.layers": stack(linear(hidden, hidden), times=3),
        "instance_projection": convolution(hidden, hidden, POINTWISE),
        "semantic_projection": convolution(hidden, 1, POINTWISE),
        "prompt_cross_attn": full_attention(config),
        "prompt_cross_attn_norm": layer_norm(hidden),
    }
    return Module("MaskDecoder", children=named(parts), part="head")


def scoring(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "text_mlp": small_mlp(hidden, config.integer("intermediate_size"), hidden),
        "text_mlp_out_norm": layer_norm(hidden),
        "text_proj": linear(hidden, hidden),
        "query_proj": linear(hidden, hidden),
    }
    return Module("DotProductScoring", children=named(parts), part="head")


def convolutional_layer(config: ModelConfig) -> Module:
    """MobileCLIP's text block (arXiv:2311.17049): a convolution over tokens that folds into one at inference."""
    hidden, inner, kernel = (config.integer(k) for k in ("hidden_size", "intermediate_size", "repmixer_kernel_size"))
    scale = (Tensor("layer_scale", (hidden, 1, 1)),)
    along = convolution(hidden, hidden, (1, kernel), bias=False, groups=hidden)
    mixing: dict[str, Module | Stack | None] = {
        "reference_batchnorm": batch_norm(hidden),
        "mixer.batchnorm_skip": batch_norm(hidden),
        "mixer.conv": along,
        "mixer.batchnorm_conv": batch_norm(hidden),
    }
    parts: dict[str, Module | Stack | None] = {
        "token_mixer": Module("TokenMixer", scale, named(mixing), part="convolution"),
        "conv_feed_forward.depthwise_conv": along,
        "conv_feed_forward.depthwise_batchnorm": batch_norm(hidden),
        "conv_feed_forward.mlp.fc1": convolution(hidden, inner, POINTWISE).with_(part="feed-forward"),
        "conv_feed_forward.mlp.fc2": convolution(inner, hidden, POINTWISE).with_(part="feed-forward"),
    }
    return Module("ConvolutionalLayer", scale, named(parts))


def lite_text_model(config: ModelConfig) -> Module:
    hidden, count = config.integer("hidden_size"), config.integer("num_hidden_layers")
    heads, inner = config.integer("num_attention_heads"), config.integer("intermediate_size")
    places = Tensor("position_embedding", (1, 1, config.integer("max_position_embeddings"), hidden))
    ends = (0, count - 1) if config.flag("use_repmixer_blocks") else ()
    plain = clip_layer(hidden, heads, inner)
    parts: dict[str, Module | Stack | None] = {
        "embeddings.token_embedding": token_embedding(config.integer("vocab_size"), hidden),
        "embeddings.position_embedding": Module("Positions", (places,), part="position"),
        "layers": layers(at(ends, count, True, False), lambda first: convolutional_layer(config) if first else plain),
        "final_layer_norm": layer_norm(hidden),
        "projection": linear(hidden, config.integer("projection_dim"), bias=False),
    }
    return Module("TextModel", children=named(parts))


def text_encoder(config: ModelConfig) -> Module:
    """CLIP's text model with its projection, or a smaller one."""
    if config.model_type == "sam3_lite_text":
        return build_nested(config, "text_config")
    return build_nested(config, "text_config", "CLIPTextModelWithProjection")


def detector(config: ModelConfig) -> Module:
    encoder, decoder = config.nested_config("detr_encoder_config"), config.nested_config("detr_decoder_config")
    text = config.nested_config("text_config").integer("hidden_size")
    detection = stack(prompted_layer(encoder), times=encoder.integer("num_layers"))
    parts: dict[str, Module | Stack | None] = {
        "vision_encoder": in_part(build_nested(config, "vision_config"), "vision"),
        "text_encoder": text_encoder(config),
        "text_projection": linear(text, encoder.integer("hidden_size"), part="projector"),
        "geometry_encoder": geometry_encoder(config.nested_config("geometry_encoder_config")),
        "detr_encoder.layers": detection,
        "detr_decoder": detection_decoder(decoder),
        "mask_decoder": mask_decoder(config.nested_config("mask_decoder_config")),
        "dot_product_scoring": scoring(decoder),
    }
    return Module("Model", children=named(parts))


def detector_and_tracker(config: ModelConfig) -> Module:
    """Both read one vision encoder, the detector's; the tracker has a neck of its own."""
    found = config.nested_config("detector_config")
    tracker = sam2.video_model(config.nested_config("tracker_config"), sees=False)
    parts: dict[str, Module | Stack | None] = {
        "detector_model": build_nested(config, "detector_config"),
        "tracker_model": tracker,
        "tracker_neck": in_part(neck(found.nested_config("vision_config")), "vision"),
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    kind = config.model_type
    if not config.architecture.endswith("Model") or (kind == "sam3_video" and "Video" not in config.architecture):
        raise unknown_head(config.architecture)
    if kind == "sam3_video":
        return detector_and_tracker(config)
    if kind == "sam3_tracker":
        return sam2.image_model(config)
    if kind == "sam3_tracker_video":
        return sam2.video_model(config)
    parts = {"sam3_vit_model": vit, "sam3_vision_model": vision_model, "sam3_lite_text_text_model": lite_text_model}
    return parts.get(kind, detector)(config)
