"""PatchTST (arXiv:2211.14730) and PatchTSMixer (arXiv:2306.09364): time series cut into patches."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.distribution import value_projection
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("patchtst", "patchtsmixer")

WHOLE_SERIES = ("ForRegression", "ForTimeSeriesClassification")
"""PatchTSMixer's heads on a series as a whole."""


def patches(config: ModelConfig) -> int:
    """Patches of ``patch_length``, ``patch_stride`` apart, in the context."""
    if config.model_type == "patchtsmixer" and config.is_set("num_patches"):
        return config.integer("num_patches")  # written, it replaces the derived one
    length = config.integer("patch_length")
    return (max(config.integer("context_length"), length) - length) // config.integer("patch_stride") + 1


def transformer_norm(config: ModelConfig) -> Module:
    """``norm_type``: over channels of the batch, or over each position's."""
    kind, width = config.text("norm_type"), config.integer("d_model")
    if kind == "batchnorm":
        return Module("Norm", children=(("batchnorm", batch_norm(width)),))
    if kind == "layernorm":
        return layer_norm(width)
    raise CannotBuild(f"norm_type {kind!r} is not known", ("norm_type",))


def transformer_layer(config: ModelConfig) -> Module:
    width, inner, bias = config.integer("d_model"), config.integer("ffn_dim"), config.flag("bias")
    feed_forward = sequential(linear(width, inner, bias), None, None, linear(inner, width, bias))
    parts: dict[str, Module | Stack | None] = {
        "self_attn": encoder_attention(width, config.integer("num_attention_heads")),
        "norm_sublayer1": transformer_norm(config),
        "norm_sublayer2": transformer_norm(config) if config.flag("channel_attention") else None,
        "ff": feed_forward.with_(part="feed-forward"),
        "norm_sublayer3": transformer_norm(config),
    }
    return Module("EncoderLayer", children=named(parts))


def transformer(config: ModelConfig) -> Module:
    """Positions are a parameter even where they are sinusoids."""
    width, count = config.integer("d_model"), patches(config)
    token = config.flag("use_cls_token")
    tensors = [Tensor("position_enc", (count + token, width))]
    if token:
        tensors.append(Tensor("cls_token", (1, 1, 1, width)))
    embedding: Module | Stack = linear(config.integer("patch_length"), width)
    if not config.flag("share_embedding"):
        embedding = uniform(linear(config.integer("patch_length"), width), config.integer("num_input_channels"))
    parts: dict[str, Module | Stack | None] = {
        "embedder.input_embedding": embedding,
        "positional_encoder": Module("Positions", tuple(tensors), part="position"),
        "layers": uniform(transformer_layer(config), config.integer("num_hidden_layers")),
    }
    return Module("Encoder", children=named(parts))


def mixer_norm(config: ModelConfig) -> Module:
    width = config.integer("d_model")
    batch = "batch" in config.text("norm_mlp").lower()
    inner = Module("BatchNorm", children=(("batchnorm", batch_norm(width)),)) if batch else layer_norm(width)
    return Module("Norm", children=(("norm", inner),))


def mixing(config: ModelConfig, size: int) -> dict[str, Module | Stack | None]:
    """A feed-forward along one dimension of ``size``, gated by softmax scores of its own."""
    gate = Module("Gate", children=(("attn_layer", linear(size, size)),))
    return {
        "norm": mixer_norm(config),
        "mlp": mlp(size, size * config.integer("expansion_factor")),
        "gating_block": gate if config.flag("gated_attn") else None,
    }


def mixer_layer(config: ModelConfig) -> Module:
    width = config.integer("d_model")
    along = mixing(config, patches(config))
    if config.flag("self_attn"):
        along["self_attn_layer"] = encoder_attention(width, config.integer("self_attn_heads"))
        along["norm_attn"] = mixer_norm(config)
    parts: dict[str, Module | Stack | None] = {
        "patch_mixer": Module("PatchMixer", children=named(along)),
        "feature_mixer": Module("FeatureMixer", children=named(mixing(config, width))),
    }
    if config.text("mode") == "mix_channel":
        channels = mixing(config, config.integer("num_input_channels"))
        parts["channel_feature_mixer"] = Module("ChannelMixer", children=named(channels))
    return Module("MixerLayer", children=named(parts))


def mixer(config: ModelConfig) -> Module:
    width = config.integer("d_model")
    positions = Module("Positions", (Tensor("position_enc", (patches(config), width)),), part="position")
    parts: dict[str, Module | Stack | None] = {
        "patcher": linear(config.integer("patch_length"), width),
        "positional_encoder": positions if config.flag("use_positional_encoding") else None,
        "mlp_mixer_encoder.mixers": uniform(mixer_layer(config), config.integer("num_layers")),
    }
    return Module("Encoder", children=named(parts))


def scale_injection(width: int) -> Module:
    """Mixes the mean and deviation that normalization took out back into the features."""
    parts = {
        "inverse_trans_expansion": linear(width + 2, 2 * width),
        "inverse_trans_compression": linear(2 * width, width),
        "map_scale_expansion": linear(2, 4),
        "map_scale_compression": linear(4, 2),
    }
    return Module("ScaleInjection", children=named({**parts}), part="head")


def output(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """The head: patches again, a forecast, a class, or other values."""
    head, width, channels = (
        head_name(config.architecture),
        config.integer("d_model"),
        config.integer("num_input_channels"),
    )
    mixes = config.model_type == "patchtsmixer"
    if head == "ForPretraining":
        return {"base_pt_block" if mixes else "linear": linear(width, config.integer("patch_length"), part="head")}
    if head == "ForPrediction":
        pooled = not mixes and (config.get("pooling_type") or config.flag("use_cls_token"))
        inputs = width if pooled else width * patches(config)
        one = value_projection(config, inputs, config.integer("prediction_length"))
        if mixes:
            return {"base_forecast_block": one}
        return {"projection": one} if config.flag("share_projection") else {"projections": uniform(one, channels)}
    if mixes and head in WHOLE_SERIES:
        # The channels side by side, and their patches too unless they are pooled.
        inputs, targets = width * channels * (1 if config.get("head_aggregation") else patches(config)), "num_targets"
        if head == "ForRegression":
            return {"projection": value_projection(config, inputs, config.integer(targets))}
        return {"projection": linear(inputs, config.integer(targets), part="head")}
    if not mixes and head == "ForClassification":
        return {"linear": linear(channels * width, config.integer("num_targets"), part="head")}
    if not mixes and head == "ForRegression":
        return {"projection": value_projection(config, channels * width, config.integer("num_targets"))}
    raise unknown_head(config.architecture)


def build(config: ModelConfig) -> Module:
    encoder = transformer(config) if config.model_type == "patchtst" else mixer(config)
    model = Module("Model", children=(("encoder", encoder),))
    if head_name(config.architecture) == "Model":
        return model
    head = Module("Head", children=named(output(config)), part="head")
    parts: dict[str, Module | Stack | None] = {"model": model, "head": head}
    mixes = config.model_type == "patchtsmixer" and head_name(config.architecture) in WHOLE_SERIES
    if mixes and config.get("scaling") in ("std", "mean", True):
        parts["inject_scale"] = scale_injection(config.integer("d_model"))
    return Module(config.architecture, children=named(parts))
