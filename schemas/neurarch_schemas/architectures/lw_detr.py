"""LW-DETR (arXiv:2406.03459) and RF-DETR (arXiv:2511.09554): a ViT with windows, a projector, a small decoder."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.detection import conv_norm, deformable_attention, prediction_head
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, transposed_convolution
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width, patch_grid, vit_attention

MODEL_TYPES = ("lw_detr", "rf_detr")

WIDE = 512
"""Features wider than this are narrowed before they are enlarged."""


def attention(config: ModelConfig, *, key_bias: bool | None = None) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = config.integer("head_dim", hidden // heads)
    return vit_attention(hidden, heads, head_dim=dim, bias=config.flag("qkv_bias"), key_bias=key_bias)


def windowed_vit(config: ModelConfig) -> Module:
    """LW-DETR's: keys have no bias, both branches a learned scale."""
    hidden = config.integer("hidden_size")
    layer: dict[str, Module | Stack | None] = {
        "attention": attention(config, key_bias=False),
        "intermediate": mlp(hidden, int(hidden * config.number("mlp_ratio"))),
        "layernorm_before": layer_norm(hidden),
        "layernorm_after": layer_norm(hidden),
    }
    scales = (Tensor("gamma_1", (hidden,)), Tensor("gamma_2", (hidden,)))
    block = Module("Layer", scales, named(layer))
    rows, columns = patch_grid(config, image="pretrain_image_size")
    places = (Tensor("position_embeddings", (1, rows * columns + 1, hidden)),)
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    absolute = config.flag("use_absolute_position_embeddings")
    parts: dict[str, Module | Stack | None] = {
        "embeddings": Module("Embeddings", places if absolute else (), (("projection", patches),), part="embedding"),
        "encoder.layer": stack(block, times=config.integer("num_hidden_layers")),
    }
    return Module("VisionTransformer", children=named(parts))


def windowed_dinov2(config: ModelConfig) -> Module:
    """RF-DETR's: DINOv2 (arXiv:2304.07193) with windows in the layers between those that are read."""
    hidden = config.integer("hidden_size")
    inner = int(hidden * config.number("mlp_ratio"))
    scale = Module("LayerScale", (Tensor("lambda1", (hidden,)),))
    gated = gated_mlp(hidden, (int(inner * 2 / 3) + 7) // 8 * 8, bias=True)
    layer: dict[str, Module | Stack | None] = {
        "norm1": layer_norm(hidden),
        "attention": attention(config),
        "layer_scale1": scale,
        "norm2": layer_norm(hidden),
        "mlp": gated if config.flag("use_swiglu_ffn") else mlp(hidden, inner),
        "layer_scale2": scale,
    }
    rows, columns = patch_grid(config)
    tensors = [Tensor("cls_token", (1, 1, hidden))]
    if config.flag("use_mask_token"):
        tensors.append(Tensor("mask_token", (1, hidden)))
    tensors.append(Tensor("position_embeddings", (1, rows * columns + 1, hidden)))
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": Module(
            "Embeddings", tuple(tensors), named({"patch_embeddings.projection": patches}), part="embedding"
        ),
        "encoder.layer": stack(Module("Layer", children=named(layer)), times=config.integer("num_hidden_layers")),
        "layernorm": layer_norm(hidden),
    }
    return Module("VisionTransformer", children=named(parts))


def normalized(config: ModelConfig, inputs: int, outputs: int, kernel: int) -> Module:
    """A convolution with a batch norm; in RF-DETR with a layer norm."""
    if config.model_type == "lw_detr":
        return conv_norm(inputs, outputs, kernel)
    parts = {"conv": convolution(inputs, outputs, (kernel, kernel), bias=False), "norm": layer_norm(outputs)}
    return Module("ConvNorm", children=named(parts), part="convolution")


def cross_stage(config: ModelConfig, inputs: int) -> Module:
    """Halves of one convolution and every further block's result, joined (C2f)."""
    hidden, blocks = config.integer("d_model"), config.integer("c2f_num_blocks")
    inner = int(hidden * config.number("hidden_expansion"))
    same = normalized(config, inner, inner, 3)
    parts: dict[str, Module | Stack | None] = {
        "conv1": normalized(config, inputs, 2 * inner, 1),
        "conv2": normalized(config, (2 + blocks) * inner, hidden, 1),
        "bottlenecks": stack(Module("Bottleneck", children=(("conv1", same), ("conv2", same))), times=blocks),
    }
    return Module("CrossStage", children=named(parts))


def resampling(config: ModelConfig, width: int, scale: object) -> tuple[Module, int]:
    """What brings one feature map to ``scale``, and its width after."""
    steps: dict[str, Module | Stack | None] = {}
    if scale == 2 and width > WIDE:
        steps["layers.0"] = normalized(config, width, width // 2, 1)
        steps["layers.1"] = transposed_convolution(width // 2, width // 4, (2, 2))
        return Module("Resampling", children=named(steps)), width // 4
    if scale == 2:
        steps["layers.0"] = transposed_convolution(width, width // 2, (2, 2))
        return Module("Resampling", children=named(steps)), width // 2
    if scale == 0.5:
        steps["layers.0"] = normalized(config, width, width, 3)
    elif scale != 1:
        raise CannotBuild(f"a scale factor of {scale!r} is not known", ("projector_scale_factors",))
    return Module("Resampling", children=named(steps)), width


def scale_projector(config: ModelConfig, width: int, count: int, scale: object) -> Module:
    sampling, after = resampling(config, width, scale)
    parts: dict[str, Module | Stack | None] = {
        "sampling_layers": stack(sampling, times=count),
        "projector_layer": cross_stage(config, after * count),
        "layer_norm": layer_norm(config.integer("d_model")),
    }
    return Module("ScaleProjector", children=named(parts))


def image_encoder(config: ModelConfig) -> Module:
    own = config.nested_config("backbone_config")
    width, count = own.integer("hidden_size"), len(own.items("out_indices"))
    if config.model_type == "rf_detr":
        ends = {
            "projector_layer": cross_stage(config, width * count),
            "layer_norm": layer_norm(config.integer("d_model")),
        }
        parts = {"backbone": windowed_dinov2(own), "projector": Module("Projector", children=named({**ends}))}
    else:
        scales = [scale_projector(config, width, count, scale) for scale in config.items("projector_scale_factors")]
        projector = Module("Projector", children=(("scale_layers", stack(*scales)),))
        parts = {"backbone": windowed_vit(own), "projector": projector}
    return in_part(Module("ImageEncoder", children=named({**parts})), "vision")


def decoder_layer(config: ModelConfig) -> Module:
    hidden, heads, bias = (
        config.integer("d_model"),
        config.integer("decoder_self_attention_heads"),
        config.flag("attention_bias"),
    )
    dim = config.integer("head_dim", hidden // heads)
    points = config.integer("num_feature_levels") * config.integer("decoder_n_points")
    parts: dict[str, Module | Stack | None] = {
        "self_attn": vit_attention(hidden, heads, head_dim=dim, bias=bias, out_bias=bias),
        "self_attn_layer_norm": layer_norm(hidden),
        "cross_attn": deformable_attention(hidden, config.integer("decoder_cross_attention_heads"), points),
        "cross_attn_layer_norm": layer_norm(hidden),
        "mlp": mlp(hidden, config.integer("decoder_ffn_dim")),
        "layer_norm": layer_norm(hidden),
    }
    return Module("DecoderLayer", children=named(parts))


def detector(config: ModelConfig) -> Module:
    """Queries and the heads that choose them stand once for each group of training."""
    hidden, groups, labels = config.integer("d_model"), config.integer("group_detr"), label_count(config)
    queries = config.integer("num_queries") * groups
    decoder: dict[str, Module | Stack | None] = {
        "layers": stack(decoder_layer(config), times=config.integer("decoder_layers")),
        "layernorm": layer_norm(hidden),
        "ref_point_head": prediction_head(2 * hidden, hidden, hidden, 2),
    }
    parts: dict[str, Module | Stack | None] = {
        "backbone": image_encoder(config),
        "reference_point_embed": embedding(queries, 4),
        "query_feat": embedding(queries, hidden),
        "decoder": Module("Decoder", children=named(decoder)),
        "enc_output": stack(linear(hidden, hidden), times=groups),
        "enc_output_norm": stack(layer_norm(hidden), times=groups),
        "enc_out_bbox_embed": stack(prediction_head(hidden, hidden, 4, 3), times=groups),
        "enc_out_class_embed": stack(linear(hidden, labels), times=groups),
    }
    return Module("Model", children=named(parts))


def segmentation(config: ModelConfig, model: Module) -> Module:
    """Masks from products of queries and features, refined by one block a decoder layer."""
    hidden = config.integer("d_model")
    block = {
        "layernorm": layer_norm(hidden),
        "depthwise_conv": convolution(hidden, hidden, (3, 3), groups=hidden),
        "pointwise_conv": linear(hidden, hidden),
    }
    features = {"norm": layer_norm(hidden), "mlp": mlp(hidden, config.integer("intermediate_size"))}
    parts: dict[str, Module | Stack | None] = {
        "model": model,
        "blocks": stack(Module("SegmentationBlock", children=named(block)), times=config.integer("decoder_layers")),
        "spatial_features_proj": convolution(hidden, hidden, (1, 1)),
        "query_features_block": Module("QueryBlock", children=named(features)),
        "query_features_proj": linear(hidden, hidden),
    }
    return Module(config.architecture, (Tensor("segmentation_bias", (1,)),), named(parts))


def build(config: ModelConfig) -> Module:
    head, hidden = head_name(config.architecture), config.integer("d_model")
    model = detector(config)
    if head == "Model":
        return model
    parts: dict[str, Module | Stack | None] = {
        "model": model,
        "class_embed": linear(hidden, label_count(config), part="head"),
        "bbox_embed": prediction_head(hidden, hidden, 4, 3).with_(part="head"),
    }
    detection = Module(config.architecture, children=named(parts))
    if head == "ForObjectDetection":
        return detection
    if head == "ForInstanceSegmentation" and config.model_type == "rf_detr":
        return segmentation(config, detection)
    raise unknown_head(config.architecture)
