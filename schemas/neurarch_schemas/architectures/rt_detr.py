"""RT-DETR (arXiv:2304.08069, arXiv:2407.17140): a hybrid encoder over a convolutional backbone, deformable decoder."""

from __future__ import annotations

from neurarch_schemas.architectures.backbones import backbone
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import tied_stack
from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.detection import (
    conv_norm,
    cross_stage_block,
    deformable_attention,
    enc_output,
    prediction_head,
    projected_level,
    self_attention,
)
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("rt_detr", "rt_detr_v2", "rt_detr_resnet")


def resnet_layer(config: ModelConfig, inputs: int, outputs: int, *, first: bool, strided: bool) -> Module:
    """ResNet-D (arXiv:1812.01187): a strided shortcut is an average pooling and then a projection."""
    changes = inputs != outputs or strided
    narrow = outputs // 4
    projection = convolution_norm(inputs, outputs, 1)
    if config.text("layer_type") == "bottleneck":
        pooled, shortcut = strided, projection if changes else None
        widths: tuple[tuple[int, int, int], ...] = ((inputs, narrow, 1), (narrow, narrow, 3), (narrow, outputs, 1))
    else:
        pooled, shortcut = inputs != outputs, projection if first else None
        widths = ((inputs, outputs, 3), (outputs, outputs, 3))
    parts: dict[str, Module | Stack | None] = {
        ("shortcut.1" if pooled else "shortcut"): shortcut,
        "layer": sequential(*(convolution_norm(*width) for width in widths)),
    }
    return Module("ResidualLayer", children=named(parts), part="convolution")


def resnet(config: ModelConfig) -> Module:
    widths, depths, half = (
        config.integers("hidden_sizes"),
        config.counts("depths"),
        config.integer("embedding_size") // 2,
    )
    inputs, stages = config.integer("embedding_size"), []
    for index, (outputs, depth) in enumerate(zip(widths, depths, strict=False)):
        strided = index > 0 or config.flag("downsample_in_first_stage")
        first = stack(resnet_layer(config, inputs, outputs, first=True, strided=strided))
        rest = stack(resnet_layer(config, outputs, outputs, first=False, strided=False), times=depth - 1)
        stages.append(Module("Stage", children=(("layers", concatenate(first, rest)),)))
        inputs = outputs
    stem = sequential(
        convolution_norm(config.integer("num_channels"), half),
        convolution_norm(half, half),
        convolution_norm(half, config.integer("embedding_size")),
    )
    return Module("Backbone", children=named({"embedder.embedder": stem, "encoder.stages": stack(*stages)}))


def encoder_layer(config: ModelConfig, feed_forward: Module) -> Module:
    hidden = config.integer("encoder_hidden_dim")
    parts: dict[str, Module | Stack | None] = {
        "self_attn": self_attention(hidden, config.integer("encoder_attention_heads")),
        "self_attn_layer_norm": layer_norm(hidden),
        "mlp": feed_forward,
        "final_layer_norm": layer_norm(hidden),
    }
    return Module("EncoderLayer", children=named(parts))


def attended_levels(config: ModelConfig, layer: Module) -> Stack:
    """Attention within one scale, on the levels of ``encode_proj_layers``."""
    layers = stack(layer, times=config.integer("encoder_layers"))
    return stack(Module("Level", children=(("layers", layers),)), times=len(config.items("encode_proj_layers")))


def hybrid_encoder(config: ModelConfig) -> Module:
    hidden, steps = config.integer("encoder_hidden_dim"), len(config.items("encoder_in_channels")) - 1
    inner = int(hidden * config.number("hidden_expansion"))
    fusing = cross_stage_block(2 * hidden, hidden, 3, inner)
    layer = encoder_layer(config, mlp(hidden, config.integer("encoder_ffn_dim")))
    parts: dict[str, Module | Stack | None] = {
        "aifi": attended_levels(config, layer),
        "lateral_convs": stack(conv_norm(hidden, hidden, 1), times=steps),
        "fpn_blocks": stack(fusing, times=steps),
        "downsample_convs": stack(conv_norm(hidden, hidden, 3), times=steps),
        "pan_blocks": stack(fusing, times=steps),
    }
    return Module("HybridEncoder", children=named(parts))


def sampling(config: ModelConfig) -> Module:
    hidden, heads = config.integer("d_model"), config.integer("decoder_attention_heads")
    if config.model_type != "rt_detr_v2":
        return deformable_attention(
            hidden, heads, config.integer("num_feature_levels") * config.integer("decoder_n_points")
        )
    points = config.integer("decoder_n_levels") * config.integer("decoder_n_points")
    return deformable_attention(hidden, heads, points).with_(tensors=(Tensor("n_points_scale", (points,), "buffer"),))


def decoder_layer(config: ModelConfig) -> Module:
    hidden = config.integer("d_model")
    parts: dict[str, Module | Stack | None] = {
        "self_attn": self_attention(hidden, config.integer("decoder_attention_heads")),
        "self_attn_layer_norm": layer_norm(hidden),
        "encoder_attn": sampling(config),
        "encoder_attn_layer_norm": layer_norm(hidden),
        "mlp": mlp(hidden, config.integer("decoder_ffn_dim")),
        "final_layer_norm": layer_norm(hidden),
    }
    return Module("DecoderLayer", children=named(parts))


def query_parts(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """What chooses queries from the encoder's features, and embeds noised labels in training."""
    hidden, labels = config.integer("d_model"), label_count(config)
    denoises, learns = config.integer("num_denoising") > 0, config.flag("learn_initial_query")
    return {
        "denoising_class_embed": embedding(labels + 1, hidden) if denoises else None,
        "weight_embedding": embedding(config.integer("num_queries"), hidden) if learns else None,
        "enc_output": enc_output(hidden),
        "enc_score_head": linear(hidden, labels),
        "enc_bbox_head": prediction_head(hidden, hidden, 4, 3),
    }


def decoder_levels(config: ModelConfig) -> Stack:
    """One map for each of the encoder's levels, and strided ones for further, coarser levels."""
    hidden, inputs = config.integer("d_model"), config.integers("decoder_in_channels")
    further = config.integer("num_feature_levels") - len(inputs)
    return concatenate(
        stack(*(projected_level(width, hidden) for width in inputs)),
        stack(projected_level(inputs[-1], hidden, 3), times=min(further, 1)),
        stack(projected_level(hidden, hidden, 3), times=further - 1),
    )


def detector(config: ModelConfig, decoder: Module) -> Module:
    image, widths = backbone(config, freeze=config.flag("freeze_backbone_batch_norms"))
    inner = config.integer("encoder_hidden_dim")
    parts: dict[str, Module | Stack | None] = {
        "backbone.model": image,
        "encoder_input_proj": stack(*(projected_level(width, inner) for width in widths)),
        "encoder": hybrid_encoder(config),
        **query_parts(config),
        "decoder_input_proj": decoder_levels(config),
        "decoder": decoder,
    }
    return Module("Model", children=named(parts))


def second_heads(config: ModelConfig, heads: dict[str, Stack]) -> dict[str, Module | Stack | None]:
    """The first version's class does not list the decoder's heads again."""
    if config.model_type == "rt_detr":
        return {}
    if not config.flag("tie_word_embeddings"):
        return {**heads}
    return {name: tied_stack(maps, f"model.decoder.{name}") for name, maps in heads.items()}


def build(config: ModelConfig) -> Module:
    """The head's maps belong to the decoder, one for each layer; the second version lists them twice, tied."""
    if config.model_type == "rt_detr_resnet":
        return resnet(config)
    head, hidden, count = head_name(config.architecture), config.integer("d_model"), config.integer("decoder_layers")
    parts: dict[str, Module | Stack | None] = {
        "layers": stack(decoder_layer(config), times=count),
        "query_pos_head": prediction_head(4, 2 * hidden, hidden, 2),
    }
    if head == "Model":
        return detector(config, Module("Decoder", children=named(parts)))
    if head != "ForObjectDetection":
        raise unknown_head(config.architecture)
    heads: dict[str, Stack] = {
        "class_embed": stack(linear(hidden, label_count(config), part="head"), times=count),
        "bbox_embed": stack(prediction_head(hidden, hidden, 4, 3).with_(part="head"), times=count),
    }
    model = detector(config, Module("Decoder", children=named({**parts, **heads})))
    return Module(config.architecture, children=named({"model": model, **second_heads(config, heads)}))
