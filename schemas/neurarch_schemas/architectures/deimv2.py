"""DEIMv2 (arXiv:2509.20787): D-FINE with a lighter encoder, gated feed-forwards and RMS norms in the decoder."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.backbones import backbone
from neurarch_schemas.architectures.d_fine import decoder as fine_decoder
from neurarch_schemas.architectures.d_fine import evaluated_layer, fine_attention, hybrid_encoder
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.architectures.rt_detr import query_parts, second_heads
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, tied_copy
from neurarch_schemas.modules.detection import conv_norm, perceptron, prediction_head, rep_vgg_block, self_attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, concatenate, named, stack

MODEL_TYPES = ("deimv2",)


def cross_stage(config: ModelConfig, inputs: int, outputs: int, blocks: int) -> Module:
    """One convolution whose halves go past and through the blocks."""
    trailing = conv_norm(outputs, outputs, 3) if config.flag("encoder_has_trailing_conv") else None
    parts: dict[str, Module | Stack | None] = {
        "conv1": conv_norm(inputs, 2 * outputs, 1),
        "bottlenecks": stack(rep_vgg_block(outputs, outputs), times=blocks),
        "conv2": trailing,
    }
    return Module("CrossStageBlock", children=named(parts), part="convolution")


def aggregation(config: ModelConfig) -> Module:
    """Two levels, fused before it, split and joined again."""
    hidden, blocks = config.integer("encoder_hidden_dim"), round(3 * config.number("depth_mult"))
    inner = round(config.number("hidden_expansion") * hidden // 2)
    parts: dict[str, Module | Stack | None] = {
        "conv1": conv_norm(hidden, 2 * hidden, 1),
        "csp_rep1": cross_stage(config, hidden, inner, blocks),
        "csp_rep2": cross_stage(config, inner, inner, blocks),
        "conv2": conv_norm(2 * hidden + 2 * inner, hidden, 1),
    }
    return Module("Aggregation", children=named(parts), part="convolution")


def lite_encoder(config: ModelConfig) -> Module:
    hidden = config.integer("encoder_hidden_dim")
    pointwise = conv_norm(hidden, hidden, 1)
    parts: dict[str, Module | Stack | None] = {
        "input_proj": stack(*(conv_norm(width, hidden, 1) for width in config.integers("encoder_in_channels"))),
        "down_conv1": pointwise,
        "down_conv2": pointwise,
        "bi_fusion_conv": pointwise,
        "fpn_block": aggregation(config),
        "pan_block": aggregation(config),
    }
    return Module("LiteEncoder", children=named(parts))


def image_encoder(config: ModelConfig) -> Module:
    """A convolutional backbone; or DINOv3 beside a few convolutions that keep detail."""
    hidden, own = config.integer("encoder_hidden_dim"), config.nested_config("backbone_config")
    if own.model_type != "dinov3_vit":
        image, widths = backbone(config, freeze=config.flag("freeze_backbone_batch_norms"))
        lite = config.text("encoder_type") == "lite"
        maps = None if lite else stack(*(conv_norm(width, hidden, 1) for width in widths))
        return Module("ImageEncoder", children=named({"model": image, "encoder_input_proj": maps}))
    width, base = own.integer("hidden_size"), config.integer("spatial_tuning_adapter_inplanes")
    adapter: dict[str, Module | Stack | None] = {
        "stem_conv": conv_norm(3, base, 3),
        "conv2": conv_norm(base, 2 * base, 3),
        "conv3": conv_norm(2 * base, 4 * base, 3),
        "conv4": conv_norm(4 * base, 4 * base, 3),
    }
    fused = (conv_norm(width + factor * base, hidden, 1) for factor in (2, 4, 4))
    parts: dict[str, Module | Stack | None] = {
        "backbone": build_nested(config, "backbone_config"),
        "spatial_tuning_adapter": Module("SpatialAdapter", children=named(adapter), part="convolution"),
        "fusion_proj": stack(*fused),
    }
    return in_part(Module("ImageEncoder", children=named(parts)), "vision")


def decoder_layer(config: ModelConfig) -> Module:
    hidden, gated = config.integer("d_model"), config.flag("use_gateway")
    gate = {"gate": linear(2 * hidden, 2 * hidden), "norm": rms_norm(hidden)}
    parts: dict[str, Module | Stack | None] = {
        "self_attn": self_attention(hidden, config.integer("decoder_attention_heads")),
        "self_attn_layer_norm": rms_norm(hidden),
        "encoder_attn": fine_attention(config),
        "mlp": gated_mlp(hidden, config.integer("decoder_ffn_dim") // 2, bias=True),
        "final_layer_norm": rms_norm(hidden),
        "gateway": Module("Gate", children=named({**gate})) if gated else None,
        "encoder_attn_layer_norm": None if gated else rms_norm(hidden),
    }
    return Module("DecoderLayer", children=named(parts))


def decoder_levels(config: ModelConfig) -> Stack:
    hidden, inputs = config.integer("d_model"), config.integers("decoder_in_channels")
    if hidden == inputs[-1]:
        return stack()
    further = config.integer("num_feature_levels") - len(inputs)
    return concatenate(
        stack(conv_norm(inputs[-1], hidden, 1), times=len(inputs)),
        stack(conv_norm(inputs[-1], hidden, 3), times=further),
    )


def detector(config: ModelConfig, heads: dict[str, Stack]) -> Module:
    hidden = config.integer("d_model")
    lite = config.text("encoder_type") == "lite"
    positions = perceptron(4, hidden, hidden, hidden)
    inside = {**fine_decoder(config, decoder_layer(config)), "query_pos_head": positions, **heads}
    scalars = (Tensor("reg_scale", (1,)), Tensor("up", (1,)))
    parts: dict[str, Module | Stack | None] = {
        "conv_encoder": image_encoder(config),
        "encoder": lite_encoder(config) if lite else hybrid_encoder(config, aggregation(config)),
        **query_parts(config),
        "decoder_input_proj": decoder_levels(config),
        "decoder": Module("Decoder", scalars, named(inside)),
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
    plain = prediction_head(hidden, hidden, outputs, 3).with_(part="head")
    boxes = concatenate(
        stack(plain, times=evaluated + 1),
        stack(prediction_head(scaled, scaled, outputs, 3).with_(part="head"), times=count - evaluated - 1),
    )
    if config.flag("share_bbox_head"):
        copy = tied_copy(plain, "model.decoder.bbox_embed.0")
        boxes = concatenate(stack(plain, times=min(count, 1)), stack(copy, times=count - 1))
    heads = {"class_embed": stack(linear(hidden, label_count(config), part="head"), times=count), "bbox_embed": boxes}
    parts = {"model": detector(config, heads), **second_heads(config, heads)}
    return Module(config.architecture, children=named(parts))
