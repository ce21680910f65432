"""Phi-4 multimodal: Phi-3's decoder with a SigLIP image embedding and a Conformer audio embedding beside the tokens."""

from __future__ import annotations

from math import log2

from neurarch_schemas.architectures.clip_vision import attention_pooling, vision_transformer
from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.attention import fused_attention
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import fused_gated_mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Run, Stack, Tensor, children

MODEL_TYPES = ("phi4_multimodal", "phi4_multimodal_vision", "phi4_multimodal_audio")

_MOST_STEPS = 64


def vision_model(config: ModelConfig) -> Module:
    encoder = vision_transformer(config)
    return encoder.with_(children=(*encoder.children, ("head", attention_pooling(config))))


def convolution_module(config: ModelConfig) -> Module:
    hidden, outputs = config.integer("hidden_size"), config.integer("ext_pw_out_channel")
    widened = hidden * config.integer("depthwise_multiplier")
    kernel = (config.integer("kernel_size"),)
    gate = Module(
        "PointwiseGLU",
        (Tensor("b1", (1, outputs, 1)), Tensor("b2", (1, outputs, 1))),
        children(ext_pw_conv_1d=convolution(hidden, 2 * outputs, (1,))),
    )
    separable = Module(
        "SeparableConvolution",
        children=children(
            dw_conv=convolution(hidden, widened, kernel, groups=hidden),
            pw_conv=convolution(widened, config.integer("depthwise_separable_out_channel"), (1,)),
        ),
    )
    return Module(
        "ConvolutionModule",
        children=children(
            layer_norm=layer_norm(hidden),
            glu=gate,
            dw_sep_conv_1d=separable,
            ext_pw_conv_1d=convolution(hidden, outputs, (1,)),
        ),
        part="convolution",
    )


def conformer_layer(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    half = Module(
        "FeedForward",
        children=children(
            layer_norm=layer_norm(hidden),
            gate_up_proj=linear(hidden, 2 * inner),
            down_proj=linear(inner, hidden),
        ),
        part="feed-forward",
    )
    return Module(
        "ConformerLayer",
        children=children(
            feed_forward_in=half,
            self_attn=encoder_attention(
                hidden,
                config.integer("num_attention_heads"),
                head_dim=config.optional_integer("head_dim"),
                names=("q_proj", "k_proj", "v_proj", "o_proj"),
                position="relative",
            ),
            conv=convolution_module(config),
            feed_forward_out=half,
            layer_norm_att=layer_norm(hidden),
            layer_norm=layer_norm(hidden),
        ),
    )


def subsampling(config: ModelConfig) -> Module:
    """A strided convolution, then pairs of depthwise and pointwise ones, until time is reduced as asked."""
    reduction, channels = config.integer("time_reduction"), config.integer("nemo_conv_channels")
    if reduction < 1:
        raise CannotBuild("time_reduction must be at least 1", ("time_reduction",))
    steps = int(log2(reduction))
    if steps > _MOST_STEPS:
        raise CannotBuild(f"time_reduction {reduction} is too large", ("time_reduction",))
    bins = config.integer("input_size")
    for _ in range(steps):
        bins = (bins - 1) // 2 + 1
    bins = config.integer("nemo_final_size", bins)
    depthwise = convolution(channels, channels, (3, 3), groups=channels)
    pointwise = convolution(channels, channels, (1, 1))
    pairs = (Run((depthwise, pointwise), steps - 1),) if steps > 1 else ()
    first = Run((convolution(1, channels, (3, 3)),))
    return Module(
        "Subsampling",
        children=children(conv=Stack((first, *pairs)), out=linear(channels * bins, config.integer("hidden_size"))),
        part="embedding",
    )


def audio_model(config: ModelConfig) -> Module:
    bins, heads = config.integer("input_size"), config.integer("num_attention_heads")
    distances = config.integer("bias_max_distance") * (1 if config.flag("bias_symmetric") else 2)
    normalization = (Tensor("global_mean", (bins,), "buffer"), Tensor("global_invstd", (bins,), "buffer"))
    bias = Module("RelativeBias", children=children(bias_values=embedding(distances, heads, part="position")))
    return Module(
        "AudioModel",
        children=children(
            encoder_embedding=Module("MeanVarianceNorm", normalization),
            embed=subsampling(config),
            relative_attention_bias_layer=bias,
            encoders=uniform(conformer_layer(config), config.integer("num_blocks")),
        ),
    )


def image_embedding(config: ModelConfig, hidden: int) -> Module:
    vision = config.nested_config("vision_config")
    features = vision.integer("hidden_size")
    separators = (
        Tensor("global_img_feature_extensor", (1, 1, features)),
        Tensor("sub_img_feature_extensor", (1, 1, 1, features)),
    )
    mapping = projector({"img_projection_up": linear(features, hidden), "img_projection_down": linear(hidden, hidden)})
    return Module(
        "ImageEmbedding",
        separators,
        (("img_processor", in_part(vision_model(vision), "vision")), *mapping.children),
        part="vision",
    )


def audio_embedding(config: ModelConfig, hidden: int) -> Module:
    """Two pairs of projections: for speech alone and for speech beside images."""
    audio = config.nested_config("audio_config")
    joined = audio.integer("hidden_size") * audio.integer("downsample_rate")
    mapping = projector(
        {
            "up_proj_for_speech": linear(joined, hidden),
            "down_proj_for_speech": linear(hidden, hidden),
            "up_proj_for_vision_speech": linear(joined, hidden),
            "down_proj_for_vision_speech": linear(hidden, hidden),
        }
    )
    return Module(
        "AudioEmbedding", children=(("encoder", in_part(audio_model(audio), "audio")), *mapping.children), part="audio"
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "phi4_multimodal_vision":
        return vision_model(config)
    if config.model_type == "phi4_multimodal_audio":
        return audio_model(config)
    hidden = config.integer("hidden_size")
    mixer = fused_attention(
        hidden,
        config.integer("num_attention_heads"),
        config.integer("num_key_value_heads"),
        config.optional_integer("head_dim"),
        window=config.optional_integer("sliding_window"),
        position="partial rope",
    )
    layer = decoder_layer(hidden, mixer, fused_gated_mlp(hidden, config.integer("intermediate_size")))
    features = Module(
        "FeatureEmbedding",
        children=children(image_embed=image_embedding(config, hidden), audio_embed=audio_embedding(config, hidden)),
    )
    return language_model(
        config, uniform(layer, config.integer("num_hidden_layers")), after={"embed_tokens_extend": features}
    )
