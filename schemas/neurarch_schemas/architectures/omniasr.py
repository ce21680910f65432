"""OmniASR: a wav2vec 2.0 encoder with pre-norm layers, one linear map, a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, children, stack
from neurarch_schemas.modules.vision import vision_attention

MODEL_TYPES = ("omniasr", "omniasr_audio", "omniasr_ctc")


def feature_encoder(config: ModelConfig, hidden: int) -> Module:
    """Convolutions over the waveform, each with a layer norm."""
    widths, kernels = config.integers("conv_dim"), config.integers("conv_kernel")
    if not widths or len(kernels) < len(widths):
        raise CannotBuild("conv_kernel must have an entry for each of conv_dim", ("conv_dim", "conv_kernel"))
    convolutions = [
        Module(
            "ConvolutionLayer",
            children=children(
                conv=convolution(
                    widths[index - 1] if index else 1, width, (kernels[index],), bias=config.flag("conv_bias")
                ),
                layer_norm=layer_norm(width),
            ),
        )
        for index, width in enumerate(widths)
    ]
    return Module(
        "FeatureEncoder",
        children=children(
            conv_layers=stack(*convolutions),
            layer_norm=layer_norm(widths[-1]),
            projection=linear(widths[-1], hidden),
        ),
    )


def audio_encoder(config: ModelConfig) -> Module:
    hidden, groups = config.integer("hidden_size"), config.integer("num_conv_pos_embedding_groups")
    layer = Module(
        "EncoderLayer",
        children=children(
            attention=vision_attention(hidden, config.integer("num_attention_heads"), position="convolution"),
            layer_norm=layer_norm(hidden),
            feed_forward=mlp(hidden, config.integer("intermediate_size"), names=("intermediate_dense", "output_dense")),
            final_layer_norm=layer_norm(hidden),
        ),
    )
    positions = convolution(hidden, hidden, (config.integer("num_conv_pos_embeddings"),), groups=groups)
    return Module(
        "AudioModel",
        children=children(
            subsampling=feature_encoder(config, hidden),
            encode_positions=Module("PositionalConvolution", children=children(conv=positions), part="position"),
            layers=uniform(layer, config.integer("num_hidden_layers")),
            layer_norm=layer_norm(hidden),
        ),
        width_out=hidden,
    )


def with_ctc_head(config: ModelConfig) -> Module:
    """The encoder, and for OmniASRForCTC a linear map to the vocabulary."""
    model = Module("Model", children=children(audio_tower=tower(config, "audio_config", "audio")))
    if config.architecture == "OmniASRCTCModel":
        return model
    if config.architecture != "OmniASRForCTC":
        raise unknown_head(config.architecture)
    hidden = config.nested_config("audio_config").integer("hidden_size")
    output = linear(hidden, config.integer("vocab_size"), part="head")
    return Module(config.architecture, children=children(model=model, ctc_head=output))


def build(config: ModelConfig) -> Module:
    if config.model_type == "omniasr_audio":
        return audio_encoder(config)
    if config.model_type == "omniasr_ctc":
        return with_ctc_head(config)
    features = config.nested_config("audio_config").integer("hidden_size")
    parts = {
        "audio_tower": tower(config, "audio_config", "audio"),
        "language_model": text_model(config),
        "multi_modal_projector": linear(
            features, config.nested_config("text_config").integer("hidden_size"), part="projector"
        ),
    }
    return with_output_head(config, {**parts}, tied=False)
