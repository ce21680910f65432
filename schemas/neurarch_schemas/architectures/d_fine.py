"""D-FINE (arXiv:2410.13842): RT-DETR whose boxes are distributions, refined from layer to layer."""

from __future__ import annotations

from neurarch_schemas.architectures.backbones import backbone
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.architectures.rt_detr import attended_levels, encoder_layer, query_parts, second_heads
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.detection import (
    conv_norm,
    cross_stage_block,
    deformable_attention,
    perceptron,
    prediction_head,
    projected_level,
    self_attention,
)
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, concatenate, named, stack

MODEL_TYPES = ("d_fine",)


def aggregation(config: ModelConfig) -> Module:
    """Features split, passed through two blocks in turn, and joined again (GELAN, arXiv:2402.13616)."""
    hidden, blocks = config.integer("encoder_hidden_dim"), round(3 * config.number("depth_mult"))
    inner = round(config.number("hidden_expansion") * hidden // 2)
    parts: dict[str, Module | Stack | None] = {
        "conv1": conv_norm(2 * hidden, 2 * hidden, 1),
        "csp_rep1": cross_stage_block(hidden, inner, blocks, inner),
        "conv2": conv_norm(inner, inner, 3),
        "csp_rep2": cross_stage_block(inner, inner, blocks, inner),
        "conv3": conv_norm(inner, inner, 3),
        "conv4": conv_norm(2 * hidden + 2 * inner, hidden, 1),
    }
    return Module("Aggregation", children=named(parts), part="convolution")


def hybrid_encoder(config: ModelConfig, block: Module) -> Module:
    """``block`` joins the features of two levels."""
    hidden, steps = config.integer("encoder_hidden_dim"), len(config.items("encoder_in_channels")) - 1
    layer = encoder_layer(config, perceptron(hidden, config.integer("encoder_ffn_dim"), hidden))
    down = {"conv1": conv_norm(hidden, hidden, 1), "conv2": conv_norm(hidden, hidden, 3, groups=hidden)}
    parts: dict[str, Module | Stack | None] = {
        "aifi": attended_levels(config, layer),
        "lateral_convs": stack(conv_norm(hidden, hidden, 1), times=steps),
        "fpn_blocks": stack(block, times=steps),
        "downsample_convs": stack(Module("Downsampling", children=named({**down})), times=steps),
        "pan_blocks": stack(block, times=steps),
    }
    return Module("HybridEncoder", children=named(parts))


def fine_attention(config: ModelConfig) -> Module:
    """``decoder_n_points`` is a number for all levels or a list of one for each."""
    hidden, heads = config.integer("d_model"), config.integer("decoder_attention_heads")
    given = config.get("decoder_n_points")
    points = sum(config.integers("decoder_n_points"))
    if not isinstance(given, list):
        points *= config.integer("num_feature_levels")
    scale = Tensor("num_points_scale", (points,), "buffer")
    return deformable_attention(hidden, heads, points, projects=False).with_(tensors=(scale,))


def decoder_layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("d_model"), config.integer("decoder_attention_heads")
    gate = {"gate": linear(2 * hidden, 2 * hidden), "norm": layer_norm(hidden)}
    parts: dict[str, Module | Stack | None] = {
        "self_attn": self_attention(hidden, heads),
        "self_attn_layer_norm": layer_norm(hidden),
        "encoder_attn": fine_attention(config),
        "mlp": perceptron(hidden, config.integer("decoder_ffn_dim"), hidden).with_(part="feed-forward"),
        "final_layer_norm": layer_norm(hidden),
        "gateway": Module("Gate", children=named({**gate})),
    }
    return Module("DecoderLayer", children=named(parts))


def evaluated_layer(config: ModelConfig) -> int:
    """Index of the layer whose boxes are used; counted from the end where negative."""
    value = config.get("eval_idx")
    if not isinstance(value, int):
        raise CannotBuild("eval_idx must be an integer", ("eval_idx",))
    return value if value >= 0 else config.integer("decoder_layers") + value


def decoder(config: ModelConfig, layer: Module) -> dict[str, Module | Stack | None]:
    """Layers behind the evaluated one are built twice."""
    hidden, count = config.integer("d_model"), config.integer("decoder_layers")
    quality = prediction_head(
        4 * (config.integer("top_prob_values") + 1), config.integer("lqe_hidden_dim"), 1, config.integer("lqe_layers")
    )
    further = max(count - evaluated_layer(config) - 1, 0)
    return {
        "layers": stack(layer, times=count + further),
        "query_pos_head": prediction_head(4, 2 * hidden, hidden, 2),
        "pre_bbox_head": prediction_head(hidden, hidden, 4, 3),
        "lqe_layers": stack(Module("LocationQuality", children=(("reg_conf", quality),)), times=count),
    }


def decoder_levels(config: ModelConfig) -> Stack:
    """All maps read the last width; none is needed where that is the decoder's own."""
    hidden, inputs = config.integer("d_model"), config.integers("decoder_in_channels")
    if hidden == inputs[-1]:
        return stack()
    further = config.integer("num_feature_levels") - len(inputs)
    return concatenate(
        stack(projected_level(inputs[-1], hidden), times=len(inputs)),
        stack(projected_level(inputs[-1], hidden, 3), times=further),
    )


def detector(config: ModelConfig, heads: dict[str, Stack]) -> Module:
    image, widths = backbone(config, freeze=config.flag("freeze_backbone_batch_norms"))
    inner, levels = config.integer("encoder_hidden_dim"), len(config.items("decoder_in_channels"))
    if len(widths) < levels:
        raise CannotBuild("the backbone gives fewer feature maps than decoder_in_channels names")
    scalars = (Tensor("reg_scale", (1,)), Tensor("up", (1,)))
    parts: dict[str, Module | Stack | None] = {
        "backbone.model": image,
        "encoder_input_proj": stack(*(projected_level(width, inner) for width in widths[:levels])),
        "encoder": hybrid_encoder(config, aggregation(config)),
        **query_parts(config),
        "decoder_input_proj": decoder_levels(config),
        "decoder": Module("Decoder", scalars, named({**decoder(config, decoder_layer(config)), **heads})),
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    head, hidden, count = head_name(config.architecture), config.integer("d_model"), config.integer("decoder_layers")
    if head == "Model":
        return detector(config, {})
    if head != "ForObjectDetection":
        raise unknown_head(config.architecture)
    evaluated, outputs = evaluated_layer(config), 4 * (config.integer("max_num_bins") + 1)
    scaled = round(config.number("layer_scale") * hidden)
    heads: dict[str, Stack] = {
        "class_embed": stack(linear(hidden, label_count(config), part="head"), times=count),
        "bbox_embed": concatenate(
            stack(prediction_head(hidden, hidden, outputs, 3).with_(part="head"), times=evaluated + 1),
            stack(prediction_head(scaled, scaled, outputs, 3).with_(part="head"), times=count - evaluated - 1),
        ),
    }
    parts = {"model": detector(config, heads), **second_heads(config, heads)}
    return Module(config.architecture, children=named(parts))
