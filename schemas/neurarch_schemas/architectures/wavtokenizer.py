"""WavTokenizer: EnCodec's encoder with one codebook, and a Vocos decoder (arXiv:2306.00814) of ConvNeXt blocks."""

from __future__ import annotations

from neurarch_schemas.architectures.encodec import encoder
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import convolution, embedding, group_norm, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children, stack

MODEL_TYPES = ("wavtokenizer", "wavtokenizer_encoder")


def encoder_model(config: ModelConfig) -> Module:
    entries, width = config.integer("codebook_size"), config.integer("codebook_dim")
    codebook = Module(
        "Codebook",
        (
            Tensor("inited", (1,), "buffer"),
            Tensor("cluster_size", (entries,), "buffer"),
            Tensor("embed", (entries, width), "buffer"),
            Tensor("embed_avg", (entries, width), "buffer"),
        ),
    )
    quantizer = Module("VectorQuantization", children=children(codebook=codebook))
    return Module("WavTokenizerEncoder", children=children(encoder=encoder(config), quantizer=quantizer), part="audio")


def adaptive_norm(config: ModelConfig, width: int) -> Module:
    """A layer norm whose scale and shift are looked up by bandwidth."""
    table = embedding(config.integer("adanorm_num_embeddings"), width, part="norm")
    return Module("AdaptiveLayerNorm", children=children(scale=table, shift=table), part="norm")


def convnext_block(config: ModelConfig, width: int, inner: int) -> Module:
    return Module(
        "ConvNextBlock",
        (Tensor("gamma", (width,)),),
        children(
            dwconv=convolution(width, width, (7,), groups=width),
            norm=adaptive_norm(config, width),
            pwconv1=linear(width, inner),
            pwconv2=linear(inner, width),
        ),
    )


def position_network(width: int) -> tuple[Module, ...]:
    norm, same, pointwise = group_norm(width), convolution(width, width, (3,)), convolution(width, width, (1,))
    residual = Module("ResidualBlock", children=children(norm1=norm, conv1=same, norm2=norm, conv2=same))
    attends = Module(
        "Attention", children=children(norm=norm, q=pointwise, k=pointwise, v=pointwise, proj_out=pointwise)
    )
    return residual, residual, attends, residual, residual, norm


def backbone(config: ModelConfig) -> Module:
    width, inner = config.integer("decoder_hidden_size"), config.integer("decoder_intermediate_size")
    return Module(
        "VocosBackbone",
        children=children(
            embed=convolution(config.integer("hidden_size"), width, (7,)),
            pos_net=stack(*position_network(width)),
            norm=adaptive_norm(config, width),
            convnext=uniform(convnext_block(config, width, inner), config.integer("decoder_num_layers")),
            final_layer_norm=layer_norm(width),
        ),
    )


def spectrum_size(config: ModelConfig) -> int:
    """``n_fft``: four hops, a hop being the product of the strides."""
    hop = 1
    for ratio in config.integers("upsampling_ratios"):
        hop *= ratio
    if hop < 1:
        raise CannotBuild("upsampling_ratios must be positive", ("upsampling_ratios",))
    return 4 * hop


def build(config: ModelConfig) -> Module:
    if config.model_type == "wavtokenizer_encoder":
        return encoder_model(config)
    spectrum = linear(config.integer("decoder_hidden_size"), spectrum_size(config) + 2, part="head")
    return Module(
        "WavTokenizer",
        children=children(
            encoder_model=encoder_model(config),
            backbone=backbone(config),
            head=Module("InverseFourierHead", children=children(linear=spectrum)),
        ),
        part="audio",
    )
