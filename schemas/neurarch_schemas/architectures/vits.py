"""VITS (arXiv:2106.06103): from text to sound by a flow, a predictor of durations, and HiFi-GAN."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, weight_normed
from neurarch_schemas.modules.tree import Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vocoder import hifi_gan

MODEL_TYPES = ("vits",)


def pointwise(inputs: int, outputs: int) -> Module:
    return convolution(inputs, outputs, (1,))


def condition(config: ModelConfig, outputs: int) -> Module | None:
    """Maps a speaker's vector to what it is added to."""
    speaker = config.integer("speaker_embedding_size")
    return pointwise(speaker, outputs) if speaker else None


def text_encoder(config: ModelConfig) -> Module:
    hidden, heads, inner = (config.integer(k) for k in ("hidden_size", "num_attention_heads", "ffn_dim"))
    kernel, window = (config.integer("ffn_kernel_size"),), config.integer("window_size", 0)
    relative = tuple(Tensor(name, (1, 2 * window + 1, hidden // heads)) for name in ("emb_rel_k", "emb_rel_v"))
    attention = encoder_attention(hidden, heads, bias=config.flag("use_bias"), position="relative")
    layer: dict[str, Module | Stack | None] = {
        "attention": attention.with_(tensors=relative if window else ()),
        "layer_norm": layer_norm(hidden),
        "feed_forward.conv_1": convolution(hidden, inner, kernel).with_(part="feed-forward"),
        "feed_forward.conv_2": convolution(inner, hidden, kernel).with_(part="feed-forward"),
        "final_layer_norm": layer_norm(hidden),
    }
    layers = stack(Module("EncoderLayer", children=named(layer)), times=config.integer("num_hidden_layers"))
    parts: dict[str, Module | Stack | None] = {
        "embed_tokens": embedding(config.integer("vocab_size"), hidden, lookup=True),
        "encoder": Module("Encoder", children=(("layers", layers),)),
        "project": pointwise(hidden, 2 * config.integer("flow_size")),
    }
    return Module("TextEncoder", children=named(parts))


def wavenet(config: ModelConfig, count: int) -> Module:
    """Gated dilated convolutions (arXiv:1609.03499); the last layer has no residual beside its skip."""
    hidden, kernel = config.integer("hidden_size"), config.integer("wavenet_kernel_size")
    conditioned = condition(config, 2 * hidden * count)
    parts: dict[str, Module | Stack | None] = {
        "cond_layer": None if conditioned is None else weight_normed(conditioned),
        "in_layers": stack(weight_normed(convolution(hidden, 2 * hidden, (kernel,))), times=count),
        "res_skip_layers": concatenate(
            stack(weight_normed(pointwise(hidden, 2 * hidden)), times=count - 1),
            stack(weight_normed(pointwise(hidden, hidden)), times=min(count, 1)),
        ),
    }
    return Module("WaveNet", children=named(parts), part="convolution")


def coupling_flow(config: ModelConfig) -> Module:
    half, hidden = config.integer("flow_size") // 2, config.integer("hidden_size")
    layer: dict[str, Module | Stack | None] = {
        "conv_pre": pointwise(half, hidden),
        "wavenet": wavenet(config, config.integer("prior_encoder_num_wavenet_layers")),
        "conv_post": pointwise(hidden, half),
    }
    flows = stack(Module("CouplingLayer", children=named(layer)), times=config.integer("prior_encoder_num_flows"))
    return Module("Flow", children=(("flows", flows),))


def separable_convolutions(config: ModelConfig) -> Module:
    hidden, kernel = config.integer("hidden_size"), config.integer("duration_predictor_kernel_size")
    count = config.integer("depth_separable_num_layers")
    parts: dict[str, Module | Stack | None] = {
        "convs_dilated": stack(convolution(hidden, hidden, (kernel,), groups=hidden), times=count),
        "convs_pointwise": stack(pointwise(hidden, hidden), times=count),
        "norms_1": stack(layer_norm(hidden), times=count),
        "norms_2": stack(layer_norm(hidden), times=count),
    }
    return Module("DepthSeparableConvolutions", children=named(parts), part="convolution")


def duration_flows(config: ModelConfig) -> Stack:
    """An affine map and then spline flows (arXiv:1906.04032): widths, heights and slopes of each bin."""
    channels, hidden = config.integer("depth_separable_channels"), config.integer("hidden_size")
    half = channels // 2
    affine = Module("Affine", (Tensor("translate", (channels, 1)), Tensor("log_scale", (channels, 1))))
    parts: dict[str, Module | Stack | None] = {
        "conv_pre": pointwise(half, hidden),
        "conv_dds": separable_convolutions(config),
        "conv_proj": pointwise(hidden, half * (3 * config.integer("duration_predictor_flow_bins") - 1)),
    }
    flow = Module("SplineFlow", children=named(parts))
    return concatenate(stack(affine), stack(flow, times=config.integer("duration_predictor_num_flows")))


def duration_predictor(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    if not config.flag("use_stochastic_duration_prediction"):
        width = config.integer("duration_predictor_filter_channels")
        kernel = (config.integer("duration_predictor_kernel_size"),)
        plain: dict[str, Module | Stack | None] = {
            "conv_1": convolution(hidden, width, kernel),
            "norm_1": layer_norm(width),
            "conv_2": convolution(width, width, kernel),
            "norm_2": layer_norm(width),
            "proj": pointwise(width, 1),
            "cond": condition(config, hidden),
        }
        return Module("DurationPredictor", children=named(plain))
    parts: dict[str, Module | Stack | None] = {
        "conv_pre": pointwise(hidden, hidden),
        "conv_proj": pointwise(hidden, hidden),
        "conv_dds": separable_convolutions(config),
        "cond": condition(config, hidden),
        "flows": duration_flows(config),
        "post_conv_pre": pointwise(1, hidden),
        "post_conv_proj": pointwise(hidden, hidden),
        "post_conv_dds": separable_convolutions(config),
        "post_flows": duration_flows(config),
    }
    return Module("StochasticDurationPredictor", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    hidden, flow, speakers = (config.integer(k) for k in ("hidden_size", "flow_size", "num_speakers"))
    widest = config.integer("upsample_initial_channel")
    sound = {**hifi_gan(config, flow, output_bias=False), "cond": condition(config, widest)}
    posterior: dict[str, Module | Stack | None] = {
        "conv_pre": pointwise(config.integer("spectrogram_bins"), hidden),
        "wavenet": wavenet(config, config.integer("posterior_encoder_num_wavenet_layers")),
        "conv_proj": pointwise(hidden, 2 * flow),
    }
    parts: dict[str, Module | Stack | None] = {
        "text_encoder": text_encoder(config),
        "flow": coupling_flow(config),
        "decoder": Module("HiFiGAN", children=named(sound), part="audio"),
        "duration_predictor": duration_predictor(config),
        "embed_speaker": embedding(speakers, config.integer("speaker_embedding_size")) if speakers > 1 else None,
        "posterior_encoder": Module("PosteriorEncoder", children=named(posterior)),
    }
    return Module("Model", children=named(parts))
