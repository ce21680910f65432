"""Keypoints: SuperPoint (arXiv:1712.07629), and LightGlue (arXiv:2306.13643), which matches its descriptors."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, named, stack

MODEL_TYPES = ("superpoint", "lightglue")

MOST_BLOCKS = 64


def detector(config: ModelConfig) -> Module:
    """Convolutions over a grey image, and two decoders: scores of keypoints, descriptors."""
    sizes, inner = config.integers("encoder_hidden_sizes"), config.integer("decoder_hidden_size")
    if not 2 <= len(sizes) <= MOST_BLOCKS:
        raise CannotBuild(f"an encoder of {len(sizes)} blocks is not built", ("encoder_hidden_sizes",))
    blocks, inputs = [], 1
    for size in sizes:
        pair = {"conv_a": convolution(inputs, size, (3, 3)), "conv_b": convolution(size, size, (3, 3))}
        blocks.append(Module("ConvBlock", children=named(pair), part="convolution"))
        inputs = size
    parts: dict[str, Module | Stack | None] = {
        "encoder.conv_blocks": stack(*blocks),
        "keypoint_decoder.conv_score_a": convolution(inputs, inner, (3, 3)),
        "keypoint_decoder.conv_score_b": convolution(inner, config.integer("keypoint_decoder_dim"), (1, 1)),
        "descriptor_decoder.conv_descriptor_a": convolution(inputs, inner, (3, 3)),
        "descriptor_decoder.conv_descriptor_b": convolution(inner, config.integer("descriptor_decoder_dim"), (1, 1)),
    }
    return Module("KeypointDetector", children=named(parts))


def layer(config: ModelConfig) -> Module:
    """Attention within an image and across the pair, each followed by an MLP over state and message."""
    width, heads = config.integer("descriptor_dim"), config.integer("num_attention_heads")
    attend = attention(
        width,
        heads,
        config.integer("num_key_value_heads", heads),
        config.integer("head_dim", width // heads),
        bias=config.flag("attention_bias"),
        kind="encoder",
        cached=False,
    )
    mixing = {"fc1": linear(2 * width, 2 * width), "fc2": linear(2 * width, width), "layer_norm": layer_norm(2 * width)}
    mlp = Module("MLP", children=named(mixing), part="feed-forward")
    parts = {"self_attention": attend, "self_mlp": mlp, "cross_attention": attend, "cross_mlp": mlp}
    return Module("MatchingLayer", children=named(parts))


def matcher(config: ModelConfig) -> Module:
    """Every layer can stop the matching: it has an assignment of its own and, but for the last, a confidence."""
    width, heads, count = (
        config.integer("descriptor_dim"),
        config.integer("num_attention_heads"),
        config.integer("num_hidden_layers"),
    )
    given = config.nested_config("keypoint_detector_config").integer("descriptor_decoder_dim")
    assignment = {"final_projection": linear(width, width), "matchability": linear(width, 1)}
    confidence = Module("TokenConfidence", children=(("token", linear(width, 1)),), part="head")
    parts: dict[str, Module | Stack | None] = {
        "keypoint_detector": in_part(build_nested(config, "keypoint_detector_config"), "vision"),
        "input_projection": linear(given, width, part="projector") if given != width else None,
        "positional_encoder.projector": linear(2, width // heads // 2, bias=False, part="position"),
        "transformer_layers": uniform(layer(config), count),
        "match_assignment_layers": uniform(Module("Assignment", children=named(assignment), part="head"), count),
        "token_confidence": uniform(confidence, count - 1),
    }
    return Module(config.architecture, children=named(parts))


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    if config.model_type == "superpoint" and head in ("Model", "ForKeypointDetection"):
        return detector(config)
    if config.model_type == "lightglue" and head == "ForKeypointMatching":
        return matcher(config)
    raise unknown_head(config.architecture)
