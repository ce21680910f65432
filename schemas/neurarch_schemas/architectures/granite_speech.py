"""Granite Speech and Granite Vision 4: Q-Formers bring the features of an encoder to a Granite language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, children

MODEL_TYPES = (
    "granite_speech",
    "granite_speech_encoder",
    "granite_speech_plus",
    "granite_speech_plus_encoder",
    "granite4_vision",
)

_SPATIAL_OFFSETS = 4


def conformer_layer(config: ModelConfig, hidden: int) -> Module:
    """A Conformer layer (arXiv:2005.08100) whose attention looks within blocks of ``context_size`` frames."""
    heads, given = config.integer("num_heads"), config.optional_integer("dim_head")
    dim = hidden // heads if given is None else given
    wide = hidden * config.integer("conv_expansion_factor")
    half = mlp(hidden, hidden * config.integer("feedforward_mult"), names=("up_proj", "down_proj"))
    half = half.with_(children=(("pre_norm", layer_norm(hidden)), *half.children))
    mixer = attention_block(
        {
            "pre_norm": layer_norm(hidden),
            "to_q": linear(hidden, heads * dim, bias=False),
            "to_kv": linear(hidden, 2 * heads * dim, bias=False),
            "to_out": linear(heads * dim, hidden),
            "rel_pos_emb": position_embedding(2 * config.integer("max_pos_emb") + 1, dim),
        },
        AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="relative"),
        hidden=hidden,
        caches=(),
    )
    depthwise = convolution(wide, wide, (config.integer("conv_kernel_size"),), bias=False, groups=wide)
    convolutions = Module(
        "ConvolutionModule",
        children=children(
            norm=layer_norm(hidden),
            up_conv=convolution(hidden, 2 * wide, (1,)),
            depth_conv=Module("DepthwiseConvolution", children=children(conv=depthwise)),
            batch_norm=batch_norm(wide),
            down_conv=convolution(wide, hidden, (1,)),
        ),
    )
    return Module(
        "ConformerLayer",
        children=children(ff1=half, attn=mixer, conv=convolutions, ff2=half, post_norm=layer_norm(hidden)),
    )


def speech_encoder(config: ModelConfig) -> Module:
    hidden, outputs = config.integer("hidden_dim"), config.integer("output_dim")
    return Module(
        "AudioModel",
        children=children(
            input_linear=linear(config.integer("input_dim"), hidden),
            layers=uniform(conformer_layer(config, hidden), config.integer("num_layers")),
            out=linear(hidden, outputs),
            out_mid=linear(outputs, hidden),
        ),
        width_out=hidden,
    )


def speech_model(config: ModelConfig) -> Module:
    width = config.nested_config("projector_config").integer("hidden_size")
    rate = config.integer("downsample_rate")
    queries = Tensor("query", (1, config.integer("window_size") // rate if rate else 0, width))
    bridge = projector(
        {
            "qformer": tower(config, "projector_config", "projector"),
            "linear": linear(width, config.nested_config("text_config").integer("hidden_size")),
        },
        tensors=(queries,),
    )
    parts: dict[str, Module | Stack | None] = {
        "encoder": tower(config, "encoder_config", "audio"),
        "projector": bridge,
        "language_model": text_model(config),
    }
    return with_output_head(config, parts)


def window_sides(config: ModelConfig) -> tuple[int, int]:
    """``downsample_rate`` as "4/8": a window of 8 by 8 patches becomes 4 by 4 queries."""
    written = str(config.get("downsample_rate")).split("/")
    if len(written) != 2 or not all(side.isdecimal() for side in written):
        raise CannotBuild('downsample_rate must read like "4/8"', ("downsample_rate",))
    return int(written[0]), int(written[1])


def vision_language_model(config: ModelConfig) -> Module:
    """The Q-Formers take their width from the vision encoder, whatever is written; each layer they feed has its own."""
    vision, hidden = config.nested_config("vision_config"), config.nested_config("text_config").integer("hidden_size")
    width = vision.integer("hidden_size")
    queries, window = window_sides(config)
    former = tower(
        config,
        "qformer_config",
        "projector",
        hidden_size=width,
        num_attention_heads=width // 64,
        encoder_hidden_size=width,
    )
    sampler = projector(
        {"qformer": former, "norm": layer_norm(width), "out_linear": linear(width, hidden)},
        tensors=(
            Tensor("query", (1, queries * queries, width)),
            Tensor("image_positions", (1, window * window, width)),
        ),
    )
    parts: dict[str, Module | Stack | None] = {
        "vision_tower": tower(config),
        "language_model": text_model(config),
        "layerwise_projectors": uniform(sampler, len(config.items("deepstack_layer_map"))),
        "spatial_projectors": uniform(sampler, _SPATIAL_OFFSETS),
    }
    return with_output_head(config, parts, tensors=(Tensor("image_newline", (hidden,)),))


def build(config: ModelConfig) -> Module:
    if config.model_type.endswith("_encoder"):
        return speech_encoder(config)
    if config.model_type == "granite4_vision":
        return vision_language_model(config)
    return speech_model(config)
