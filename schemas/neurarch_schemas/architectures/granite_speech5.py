"""Granite Speech 5: a Conformer encoder of its own, with CTC logits halfway through and at the end."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, tied_copy, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.conformer import conformer_block
from neurarch_schemas.modules.layers import batch_norm, convolution, linear, position_embedding
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("granite_speech5_encoder", "granite_speech5_ctc")


def convolution_module(config: ModelConfig) -> Module:
    hidden, kernel = config.integer("hidden_size"), config.integer("conv_kernel_size")
    inner = hidden * config.integer("conv_expansion_factor")
    return Module(
        "ConvolutionModule",
        children=children(
            pointwise_lin1=linear(hidden, 2 * inner),
            depthwise_conv=convolution(inner, inner, (kernel,), bias=False, groups=inner),
            norm=batch_norm(inner),
            pointwise_lin2=linear(inner, hidden),
        ),
        part="convolution",
    )


def block(config: ModelConfig) -> Module:
    """Positions are one embedding a layer of the distance between frames; keys have as many heads as queries."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = config.integer("head_dim", hidden // heads)
    mixer = attention(
        hidden,
        heads,
        head_dim=dim,
        out_bias=True,
        extra={"rel_pos_emb": position_embedding(2 * config.integer("max_position_embeddings") + 1, dim)},
        kind="encoder",
        position="relative",
        cached=False,
    )
    inner, bias = config.integer("intermediate_size"), config.flag("attention_bias")
    return conformer_block(hidden, inner, mixer, convolution_module(config), bias=bias)


def encoder(config: ModelConfig) -> Module:
    """Layers that halve the frame rate hold the same tensors as the others."""
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    return Module(
        "Encoder",
        children=children(
            input_linear=linear(4 * config.integer("num_mel_bins"), hidden),
            layers=uniform(block(config), config.integer("num_hidden_layers")),
            out=linear(hidden, vocabulary),
            out_mid=linear(vocabulary, hidden),
        ),
        part="audio",
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    architecture = config.architecture
    if config.model_type == "granite_speech5_encoder":
        if architecture.endswith(("Encoder", "Model")):
            return encoder(config)
    elif architecture.endswith("ForCTC"):
        hidden = config.nested_config("encoder_config").integer("hidden_size")
        head = lm_head(hidden, config.integer("vocab_size"), bias=True)
        if config.flag("tie_word_embeddings"):
            head = tied_copy(head, "encoder.out")
        return Module(
            architecture,
            children=children(encoder=build_nested(config, "encoder_config", "Encoder"), ctc_head=head),
        )
    raise unknown_head(architecture)
