"""dots 3 note with images and audio: a vision encoder whose later layers route, an audio encoder, each with an adapter.

Experts of the vision encoder differ in number from layer to layer (``per_layer_config``).
"""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.overrides import is_written, per_layer_overrides
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.feed_forward import fused_gated_mlp, gated_mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, children, named
from neurarch_schemas.modules.vision import fused_vision_attention, sequential

MODEL_TYPES = ("dots3_note", "dots3_note_vision_encoder", "dots3_note_audio_encoder")
READS_PER_LAYER_CONFIG = True


def expert_counts(config: ModelConfig) -> LayerPattern[tuple[int, int]]:
    """Experts and active experts of each layer."""
    count, names = config.integer("num_hidden_layers"), ("num_local_experts", "num_experts_per_tok")
    usual = (config.integer(names[0]), config.integer(names[1]))
    if is_written(config, "per_layer_config"):
        return per_layer_overrides(config, names, count).map(lambda changes: own(dict(changes), names, usual))
    if names[0] not in config.patterns:
        return LayerPattern.constant(usual, count)
    pattern = config.layers(names[0]).zip(config.layers(names[1]))
    return pattern.map(lambda pair: own(dict(zip(names, pair, strict=True)), names, usual))


def own(given: Mapping[str, object], names: tuple[str, str], usual: tuple[int, int]) -> tuple[int, int]:
    total, active = (given.get(name) for name in names)
    return (
        total if isinstance(total, int) else usual[0],
        active if isinstance(active, int) else usual[1],
    )


def vision_block(config: ModelConfig, kind: JSONScalar, counts: tuple[int, int]) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    if kind == "sparse":
        total, active = counts
        transform = mixture_of_experts(
            hidden,
            router(hidden, total),
            fused_experts(hidden, config.integer("moe_intermediate_size"), total, active),
            correction_bias="e_score_correction_bias",
        )
    else:
        transform = gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias"))
    norm, bias = rms_norm(hidden // heads), config.flag("attention_bias")
    mixer = fused_vision_attention(hidden, heads, bias=bias, extra={"q_norm": norm, "k_norm": norm})
    return Module(
        "VisionBlock",
        children=children(norm1=rms_norm(hidden), attn=mixer, norm2=rms_norm(hidden), mlp=transform),
    )


def vision_model(config: ModelConfig) -> Module:
    hidden, patch = config.integer("hidden_size"), config.integer("patch_size")
    inputs, outputs = config.integer("adapter_in_dim"), config.integer("adapter_out_dim")
    merged = inputs * config.integer("adapter_merge_size") ** 2
    merger = Module(
        "PatchMerger",
        children=children(
            ln_q=layer_norm(inputs), mlp=sequential(linear(merged, merged), None, linear(merged, outputs))
        ),
        part="projector",
    )
    patches = Module(
        "PatchEmbedding",
        children=children(
            proj=convolution(config.integer("num_channels"), hidden, (patch, patch)), norm=rms_norm(hidden)
        ),
        part="embedding",
    )
    pattern = config.layers("mlp_layer_types").zip(expert_counts(config))
    return Module(
        "VisionModel",
        children=children(
            patch_embed=patches,
            blocks=layers(pattern, lambda kind: vision_block(config, *kind)),
            merger=merger,
            norm=rms_norm(hidden),
        ),
        width_out=outputs,
    )


def audio_model(config: ModelConfig) -> Module:
    hidden, width = config.integer("hidden_size"), config.integer("downsample_hidden_size")
    heads = config.integer("num_attention_heads")
    mixer = attention(
        hidden,
        heads,
        head_dim=hidden // heads,
        bias=config.flag("attention_bias"),
        key_bias=False,
        kind="encoder",
        cached=False,
    )
    layer = Module(
        "EncoderLayer",
        children=children(
            self_attn=mixer,
            input_layernorm=rms_norm(hidden),
            mlp=fused_gated_mlp(hidden, config.integer("intermediate_size"), bias=True),
            post_attention_layernorm=rms_norm(hidden),
        ),
    )
    # Three strided convolutions leave an eighth of the mel bins, rounded up.
    flattened = config.integer("conv_output_size", width * ((config.integer("feature_size") + 7) // 8))
    convolutions = sequential(convolution(1, width, (3, 3)), *(convolution(width, width, (3, 3)),) * 2)
    stem = Module(
        "ConvolutionStem",
        children=children(convs=convolutions, conv_out=linear(flattened, hidden, bias=False)),
        part="embedding",
    )
    inputs, outputs = config.integer("adapter_input_size"), config.integer("adapter_out_dim")
    adapter = {"norm": layer_norm(inputs), "fc1": linear(inputs, outputs), "fc2": linear(outputs, outputs)}
    return Module(
        "AudioModel",
        children=children(
            conv_stem=stem,
            layers=uniform(layer, config.integer("num_hidden_layers")),
            layer_norm=rms_norm(hidden),
            adapter=Module("Adapter", children=named({**adapter}), part="projector"),
        ),
        width_out=outputs,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "dots3_note_vision_encoder":
        return vision_model(config)
    if config.model_type == "dots3_note_audio_encoder":
        return audio_model(config)
    parts: dict[str, Module | Stack | None] = {
        "language_model": text_model(config),
        "vision_tower": tower(config),
        "audio_tower": tower(config, "audio_config", "audio"),
    }
    return with_output_head(config, parts)
