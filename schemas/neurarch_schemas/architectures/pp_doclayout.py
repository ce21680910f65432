"""PP-DocLayout V3 and V4: RT-DETR for page layouts, with masks (V3) or polygons (V4) and a reading order."""

from __future__ import annotations

from math import log2

from neurarch_schemas.architectures import rt_detr
from neurarch_schemas.architectures.backbones import backbone
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import tied_copy, uniform
from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.detection import enc_output, prediction_head, projected_level
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import sequential
from neurarch_schemas.record import replace

MODEL_TYPES = ("pp_doclayout_v3", "pp_doclayout_v4")

BOX = 4


def scale_head(inputs: int, width: int, stride: int, base: int) -> Module:
    """A convolution for each doubling up to the finest level; the finest one has a single convolution."""
    count = max(1, int(log2(stride) - log2(base)))
    layers: list[Module | None] = []
    for index in range(count):
        layers.append(convolution_norm(inputs if index == 0 else width, width))
        if stride != base:
            layers.append(None)
    return Module("ScaleHead", children=(("layers", sequential(*layers)),))


def mask_parts(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """Mask prototypes out of all levels and the backbone's finest one."""
    inputs, strides = config.integer("encoder_hidden_dim"), sorted(config.integers("feat_strides"))
    inner, outer = config.integers("mask_feature_channels")[:2]
    if not strides or strides[0] < 1:
        raise CannotBuild("feat_strides must be positive", ("feat_strides",))
    heads: dict[str, Module | Stack | None] = {
        "scale_heads": stack(*(scale_head(inputs, inner, stride, strides[0]) for stride in strides)),
        "output_conv": convolution_norm(inner, outer),
    }
    return {
        "mask_feature_head": Module("MaskFeatures", children=named(heads)),
        "encoder_mask_lateral": convolution_norm(config.integer("x4_feat_dim"), outer),
        "encoder_mask_output.base_conv": convolution_norm(outer, outer),
        "encoder_mask_output.conv": convolution(outer, config.integer("num_prototypes"), (1, 1)),
    }


def layers(config: ModelConfig) -> Stack:
    """The decoder layers of RT-DETR's first version."""
    return uniform(rt_detr.decoder_layer(replace(config, model_type="rt_detr")), config.integer("decoder_layers"))


def version_3(config: ModelConfig, prefix: str) -> Module:
    """The maps of the decoder are those that choose the queries, tied by default.

    The detection class replaces the table of noised labels by one without padding.
    """
    hidden, labels, head_size = (
        config.integer("d_model"),
        label_count(config),
        config.integer("global_pointer_head_size"),
    )
    image, widths = backbone(config, freeze=config.flag("freeze_backbone_batch_norms"))
    inner, prototypes = config.integer("encoder_hidden_dim"), config.integer("num_prototypes")
    scores, boxes = linear(hidden, labels, part="head"), prediction_head(hidden, hidden, BOX, 3)
    tied = config.flag("tie_word_embeddings")
    decoder: dict[str, Module | Stack | None] = {
        "layers": layers(config),
        "query_pos_head": prediction_head(BOX, 2 * hidden, hidden, 2),
        "class_embed": tied_copy(scores, f"{prefix}enc_score_head") if tied else scores,
        "bbox_embed": tied_copy(boxes, f"{prefix}enc_bbox_head") if tied else boxes,
    }
    encoder = rt_detr.hybrid_encoder(config)
    queries = rt_detr.query_parts(config)
    if prefix:
        queries["denoising_class_embed"] = embedding(labels, hidden)
    parts: dict[str, Module | Stack | None] = {
        "backbone.model": image,
        "encoder_input_proj": stack(*(projected_level(width, inner) for width in widths[1:])),
        "encoder": encoder.with_(children=(*encoder.children, *named(mask_parts(config)))),
        **queries,
        "decoder_input_proj": rt_detr.decoder_levels(config),
        "decoder": Module("Decoder", children=named(decoder)),
        "decoder_order_head": uniform(linear(hidden, hidden, part="head"), config.integer("decoder_layers")),
        "decoder_global_pointer.dense": linear(hidden, 2 * head_size, part="head"),
        "decoder_norm": layer_norm(hidden),
        "mask_query_head": prediction_head(hidden, hidden, prototypes, 3),
    }
    return Module("Model", children=named(parts))


def order_head(config: ModelConfig) -> dict[str, Module | Stack | None]:
    hidden, size = config.integer("d_model"), config.integer("global_pointer_head_size")
    return {
        "proj": uniform(linear(hidden, hidden), config.integer("decoder_layers")),
        "global_pointer.q_proj": linear(hidden, size),
        "global_pointer.k_proj": linear(hidden, size),
    }


def version_4(config: ModelConfig) -> Module:
    """Polygons of ``num_coords`` numbers; maps of its own for each decoder layer; two heads for the reading order."""
    hidden, labels, coordinates = config.integer("d_model"), label_count(config), config.integer("num_coords")
    count, inner = config.integer("decoder_layers"), config.integer("encoder_hidden_dim")
    image, widths = backbone(config, freeze=config.flag("freeze_backbone_batch_norms"))
    fusion = Module("OrderFusion", (Tensor("closure_weight", (1,)),))
    relative = {**order_head(config), "s2r_fusion": fusion}
    decoder: dict[str, Module | Stack | None] = {
        "layers": layers(config),
        "query_pos_head": prediction_head(coordinates, 2 * hidden, hidden, 2),
        "bbox_embed": uniform(prediction_head(hidden, hidden, coordinates, 3), count),
        "class_embed": uniform(linear(hidden, labels, part="head"), count),
        "successor_order_head": Module("OrderHead", children=named(order_head(config)), part="head"),
        "relative_order_head": Module("OrderHead", children=named(relative), part="head"),
    }
    parts: dict[str, Module | Stack | None] = {
        "backbone.model": image,
        "encoder_input_proj": stack(*(projected_level(width, inner) for width in widths)),
        "encoder": rt_detr.hybrid_encoder(config),
        "enc_output": enc_output(hidden),
        "enc_score_head": linear(hidden, labels),
        "enc_bbox_head": prediction_head(hidden, hidden, coordinates, 3),
        "decoder_input_proj": rt_detr.decoder_levels(config),
        "decoder": Module("Decoder", children=named(decoder)),
        "denoising_class_embed": embedding(labels, hidden) if config.integer("num_denoising") > 0 else None,
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    if head not in ("Model", "ForObjectDetection"):
        raise unknown_head(config.architecture)
    detects = head == "ForObjectDetection"
    if config.model_type == "pp_doclayout_v3":
        model = version_3(config, "model." if detects else "")
    else:
        model = version_4(config)
    return Module(config.architecture, children=(("model", model),)) if detects else model
