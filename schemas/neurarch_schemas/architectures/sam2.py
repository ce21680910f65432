"""Segment Anything 2 (arXiv:2408.00714) for images and video, and EdgeTAM (arXiv:2501.07256) for video."""

from __future__ import annotations

from math import log2

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.architectures.sam import feed_forward
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, transposed_convolution
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vision import height_and_width

MODEL_TYPES = (
    "sam2",
    "sam2_video",
    "sam2_vision_model",
    "sam2_hiera_det_model",
    "edgetam",
    "edgetam_video",
    "edgetam_vision_model",
)

MEMORY_WIDTH = 64
"""Width of the memories that attention reads, fixed in the class."""
POINTWISE = (1, 1)


def narrow_attention(hidden: int, heads: int, width: int, source: int | None = None, *, bias: bool = True) -> Module:
    """Attention of ``width`` values in all heads together, over a stream of ``hidden``; keys from ``source``."""
    dim = width // heads
    sourced = hidden if source is None else source
    parts: dict[str, Module | Stack | None] = {
        "q_proj": linear(hidden, width, bias),
        "k_proj": linear(sourced, width, bias),
        "v_proj": linear(sourced, width, bias),
        "o_proj": linear(width, hidden, bias),
    }
    shape = AttentionShape(heads, heads, dim, dim, "encoder", causal=False)
    return Module("Attention", children=named(parts), part="attention", attention=shape)


def hiera_block(inputs: int, outputs: int, heads: int, ratio: float) -> Module:
    """The first block of a stage widens the stream, past the attention by a linear map."""
    dim = outputs // heads
    parts = {"qkv": linear(inputs, 3 * outputs), "proj": linear(outputs, outputs)}
    shape = AttentionShape(heads, heads, dim, dim, "encoder", causal=False)
    names = ("proj_in", "proj_out")
    block: dict[str, Module | Stack | None] = {
        "layer_norm1": layer_norm(inputs),
        "attn": Module("Attention", children=named(parts), part="attention", attention=shape),
        "layer_norm2": layer_norm(outputs),
        "mlp": mlp(outputs, int(outputs * ratio), names=names),
        "proj": linear(inputs, outputs) if inputs != outputs else None,
    }
    return Module("Block", children=named(block))


def hiera(config: ModelConfig) -> Module:
    """Hiera (arXiv:2306.00989) with positions of a window, tiled, over coarser ones of the whole image."""
    widths, heads = config.integers("embed_dim_per_stage"), config.integers("num_attention_heads_per_stage")
    ratio, first = config.number("mlp_ratio"), config.integer("hidden_size")
    stages: list[Stack] = []
    for index, count in enumerate(config.integers("blocks_per_stage")):
        inputs = widths[index - 1] if index else widths[0]
        stages.append(stack(hiera_block(inputs, widths[index], heads[index], ratio), times=min(count, 1)))
        stages.append(stack(hiera_block(widths[index], widths[index], heads[index], ratio), times=count - 1))
    window = config.integers("window_size_per_stage")[0]
    tensors = (
        Tensor("pos_embed", (1, first, *height_and_width(config, "window_positional_embedding_background_size"))),
        Tensor("pos_embed_window", (1, first, window, window)),
    )
    patches = convolution(config.integer("num_channels"), first, height_and_width(config, "patch_kernel_size"))
    parts: dict[str, Module | Stack | None] = {
        "patch_embed": Module("PatchEmbeddings", children=(("projection", patches),), part="embedding"),
        "blocks": concatenate(*stages),
    }
    return Module("Hiera", tensors, named(parts))


def vision_model(config: ModelConfig) -> Module:
    """The backbone's stages, each mapped to the width of a feature pyramid."""
    kernel, width = config.integer("fpn_kernel_size"), config.integer("fpn_hidden_size")
    maps = [convolution(inputs, width, (kernel, kernel)) for inputs in config.integers("backbone_channel_list")]
    neck = Module("Neck", children=(("convs", stack(*maps)),), part="convolution")
    return Module("VisionModel", children=(("backbone", build_nested(config, "backbone_config")), ("neck", neck)))


def frequencies(prompt: ModelConfig) -> Module:
    """Random spatial frequencies of two coordinates, as a buffer."""
    tensor = Tensor("positional_embedding", (2, prompt.integer("hidden_size") // 2), "buffer")
    return Module("PositionalEmbedding", (tensor,), part="position")


def prompt_encoder(config: ModelConfig) -> Module:
    hidden, channels = config.integer("hidden_size"), config.integer("mask_input_channels")
    narrow = channels // 4
    parts: dict[str, Module | Stack | None] = {
        "shared_embedding": frequencies(config),
        "mask_embed.conv1": convolution(1, narrow, (2, 2)),
        "mask_embed.conv2": convolution(narrow, channels, (2, 2)),
        "mask_embed.conv3": convolution(channels, hidden, POINTWISE),
        "mask_embed.layer_norm1": layer_norm(narrow),
        "mask_embed.layer_norm2": layer_norm(4 * narrow),
        "no_mask_embed": embedding(1, hidden),
        "point_embed": embedding(config.integer("num_point_embeddings"), hidden),
        "not_a_point_embed": embedding(1, hidden),
    }
    return Module("PromptEncoder", children=named(parts))


def mask_decoder(config: ModelConfig) -> Module:
    """As the first version's, with features of two finer resolutions and a score of the object's presence."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    narrow, count = hidden // config.integer("attention_downsample_rate"), config.integer("num_hidden_layers")
    tokens = config.integer("num_multimask_outputs") + 1
    quarter, eighth = hidden // 4, hidden // 8
    across = narrow_attention(hidden, heads, narrow)
    block: dict[str, Module | Stack | None] = {
        "self_attn": narrow_attention(hidden, heads, hidden),
        "layer_norm1": layer_norm(hidden),
        "cross_attn_token_to_image": across,
        "layer_norm2": layer_norm(hidden),
        # The class gives its MLP as many layers as the transformer has.
        "mlp": feed_forward(hidden, config.integer("mlp_dim"), hidden, count).with_(part="feed-forward"),
        "layer_norm3": layer_norm(hidden),
        "layer_norm4": layer_norm(hidden),
        "cross_attn_image_to_token": across,
    }
    scores = feed_forward(hidden, config.integer("iou_head_hidden_dim"), tokens, config.integer("iou_head_depth"))
    parts: dict[str, Module | Stack | None] = {
        "iou_token": embedding(1, hidden),
        "mask_tokens": embedding(tokens, hidden),
        "transformer.layers": stack(Module("TwoWayBlock", children=named(block)), times=count),
        "transformer.final_attn_token_to_image": across,
        "transformer.layer_norm_final_attn": layer_norm(hidden),
        "upscale_conv1": transposed_convolution(hidden, quarter, (2, 2)),
        "upscale_conv2": transposed_convolution(quarter, eighth, (2, 2)),
        "upscale_layer_norm": layer_norm(quarter),
        "output_hypernetworks_mlps": stack(feed_forward(hidden, hidden, eighth, 3), times=tokens),
        "iou_prediction_head": scores,
        "conv_s0": convolution(hidden, eighth, POINTWISE),
        "conv_s1": convolution(hidden, quarter, POINTWISE),
        "obj_score_token": embedding(1, hidden),
        "pred_obj_score_head": feed_forward(hidden, hidden, 1, 3),
    }
    return Module("MaskDecoder", children=named(parts))


def memory_attention(config: ModelConfig) -> Module:
    """Conditions a frame's features on memories of earlier ones."""
    hidden, heads = (
        config.integer("memory_attention_hidden_size"),
        config.integer("memory_attention_num_attention_heads"),
    )
    width = hidden // config.integer("memory_attention_downsample_rate")
    parts: dict[str, Module | Stack | None] = {
        "self_attn": narrow_attention(hidden, heads, width),
        "cross_attn_image": narrow_attention(hidden, heads, width, MEMORY_WIDTH),
    }
    if config.model_type == "edgetam_video":
        parts["mlp"] = mlp(hidden, config.integer("memory_attention_mlp_hidden_size"), names=("up_proj", "down_proj"))
    else:
        inner = config.integer("memory_attention_feed_forward_hidden_size")
        parts["linear1"] = linear(hidden, inner, part="feed-forward")
        parts["linear2"] = linear(inner, hidden, part="feed-forward")
    parts.update({f"layer_norm{number}": layer_norm(hidden) for number in (1, 2, 3)})
    layers = stack(Module("Layer", children=named(parts)), times=config.integer("memory_attention_num_layers"))
    return Module("MemoryAttention", children=(("layers", layers), ("layer_norm", layer_norm(hidden))))


def mask_downsampler(config: ModelConfig) -> Module:
    """Strided convolutions; each multiplies the channels by the pixels it merges."""
    stride, kernel = config.integer("mask_downsampler_stride"), config.integer("mask_downsampler_kernel_size")
    total = config.integer("mask_downsampler_total_stride")
    if stride < 2 or total < 1:
        raise CannotBuild("mask_downsampler_stride must be at least 2", ("mask_downsampler_stride",))
    channels, steps = 1, []
    for _ in range(int(log2(total) // log2(stride))):
        wider = channels * stride**2
        conv = convolution(channels, wider, (kernel, kernel))
        steps.append(Module("Downsampling", children=(("conv", conv), ("layer_norm", layer_norm(wider)))))
        channels = wider
    final = convolution(channels, config.integer("mask_downsampler_embed_dim"), POINTWISE)
    return Module("MaskDownsampler", children=(("layers", stack(*steps)), ("final_conv", final)), part="convolution")


def memory_encoder(config: ModelConfig) -> Module:
    hidden, outputs = config.integer("memory_encoder_hidden_size"), config.integer("memory_encoder_output_channels")
    width, inner = config.integer("memory_fuser_embed_dim"), config.integer("memory_fuser_intermediate_dim")
    kernel = config.integer("memory_fuser_kernel_size")
    block: dict[str, Module | Stack | None] = {
        "depthwise_conv": convolution(width, width, (kernel, kernel), groups=width),
        "layer_norm": layer_norm(width),
        "pointwise_conv1": linear(width, inner),
        "pointwise_conv2": linear(inner, width),
    }
    fuser = Module("FuserBlock", (Tensor("scale", (width,)),), named(block))
    parts: dict[str, Module | Stack | None] = {
        "mask_downsampler": mask_downsampler(config),
        "feature_projection": convolution(hidden, hidden, POINTWISE),
        "memory_fuser.layers": stack(fuser, times=config.integer("memory_fuser_num_layers")),
        "projection": convolution(hidden, outputs, POINTWISE),
    }
    return Module("MemoryEncoder", children=named(parts), part="convolution")


def spatial_perceiver(config: ModelConfig) -> Module:
    """EdgeTAM compresses each memory to two sets of latents (arXiv:2103.03206)."""
    hidden = config.integer("perceiver_resampler_hidden_size")
    heads = config.integer("perceiver_resampler_num_attention_heads")
    width = heads * config.integer("perceiver_resampler_attention_head_dim")
    inner = config.integer("perceiver_resampler_mlp_intermediate_size")
    attention = narrow_attention(hidden, heads, width, bias=False)
    forward = mlp(hidden, inner, bias=False, names=("up_proj", "down_proj"))
    forward = forward.with_(children=(("layer_norm", layer_norm(hidden)), *forward.children))
    layer: dict[str, Module | Stack | None] = {
        "cross_attention": attention,
        "mlp": forward,
        "self_attention": attention,
        "self_mlp": forward,
        **{f"layer_norm_{name}": layer_norm(hidden) for name in ("input", "latents", "self")},
    }
    latents = {
        "latents_1d": config.integer("perceiver_resampler_num_latents"),
        "latents_2d": config.integer("perceiver_resampler_num_latents_2d"),
    }
    tensors = tuple(Tensor(name, (count, hidden)) for name, count in latents.items() if count)
    layers = stack(
        Module("ResamplerLayer", children=named(layer)), times=config.integer("perceiver_resampler_num_layers")
    )
    return Module("Resampler", tensors, (("layers", layers), ("layer_norm", layer_norm(hidden))))


def image_parts(config: ModelConfig, *, sees: bool = True) -> dict[str, Module | Stack | None]:
    """``sees`` is False where another model's vision encoder is used."""
    prompt = config.nested_config("prompt_encoder_config")
    return {
        "shared_image_embedding": frequencies(prompt),
        "vision_encoder": in_part(build_nested(config, "vision_config"), "vision") if sees else None,
        "prompt_encoder": prompt_encoder(prompt),
        "mask_decoder": mask_decoder(config.nested_config("mask_decoder_config")),
    }


def video_tensors(config: ModelConfig, hidden: int) -> tuple[Tensor, ...]:
    memory = config.integer("memory_encoder_output_channels")
    shapes: dict[str, tuple[int, ...]] = {
        "no_memory_embedding": (1, 1, hidden),
        "no_memory_positional_encoding": (1, 1, hidden),
        "memory_temporal_positional_encoding": (config.integer("num_maskmem"), 1, 1, memory),
        "no_object_pointer": (1, hidden),
    }
    if config.flag("enable_occlusion_spatial_embedding"):
        shapes["occlusion_spatial_embedding_parameter"] = (1, memory)
    return tuple(Tensor(name, shape) for name, shape in shapes.items())


def video_parts(config: ModelConfig, hidden: int) -> dict[str, Module | Stack | None]:
    memory = config.integer("memory_encoder_output_channels")
    timed = config.flag("enable_temporal_pos_encoding_for_object_pointers")
    return {
        "memory_attention": memory_attention(config),
        "memory_encoder": memory_encoder(config),
        "mask_downsample": convolution(1, 1, (4, 4)),
        "object_pointer_proj": feed_forward(hidden, hidden, hidden, 3),
        "temporal_positional_encoding_projection_layer": linear(hidden, memory) if timed else None,
        "spatial_perceiver": spatial_perceiver(config) if config.model_type == "edgetam_video" else None,
    }


def image_model(config: ModelConfig) -> Module:
    hidden = config.nested_config("vision_config").integer("fpn_hidden_size")
    return Module("Model", (Tensor("no_memory_embedding", (1, 1, hidden)),), named(image_parts(config)))


def video_model(config: ModelConfig, *, sees: bool = True) -> Module:
    hidden = config.nested_config("vision_config").integer("fpn_hidden_size")
    parts = {**image_parts(config, sees=sees), **video_parts(config, hidden)}
    return Module("Model", video_tensors(config, hidden), named(parts))


def build(config: ModelConfig) -> Module:
    kind = config.model_type
    if not config.architecture.endswith("Model"):
        raise unknown_head(config.architecture)
    if kind == "sam2_hiera_det_model":
        return hiera(config)
    if kind in ("sam2_vision_model", "edgetam_vision_model"):
        return vision_model(config)
    hidden = config.nested_config("vision_config").integer("fpn_hidden_size")
    if not kind.endswith("_video") or "Video" not in config.architecture:
        return Module("Model", (Tensor("no_memory_embedding", (1, 1, hidden)),), named(image_parts(config)))
    return Module("Model", video_tensors(config, hidden), named({**image_parts(config), **video_parts(config, hidden)}))
