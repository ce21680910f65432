"""DAC (Descript audio codec): convolutions with learned periodic activations, low-dimensional codebooks."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import convolution, embedding, transposed_convolution
from neurarch_schemas.modules.tree import Module, Tensor, children, stack

MODEL_TYPES = ("dac",)


def snake(channels: int) -> Module:
    """x + sin(ax)^2 / a with a learned ``a`` for each channel (arXiv:2006.08195)."""
    return Module("Snake", (Tensor("alpha", (1, channels, 1)),))


def residual_unit(width: int) -> Module:
    return Module(
        "ResidualUnit",
        children=children(
            snake1=snake(width),
            conv1=convolution(width, width, (7,)),
            snake2=snake(width),
            conv2=convolution(width, width, (1,)),
        ),
    )


def encoder(config: ModelConfig, hidden: int) -> Module:
    width = config.integer("encoder_hidden_size")
    first = convolution(1, width, (7,))
    blocks: list[Module] = []
    for ratio in config.integers("downsampling_ratios"):
        unit = residual_unit(width)
        down = convolution(width, 2 * width, (2 * ratio,))
        parts = children(res_unit1=unit, res_unit2=unit, res_unit3=unit, snake1=snake(width), conv1=down)
        blocks.append(Module("EncoderBlock", children=parts))
        width *= 2
    return Module(
        "Encoder",
        children=children(
            conv1=first, block=stack(*blocks), snake1=snake(width), conv2=convolution(width, hidden, (3,))
        ),
    )


def decoder(config: ModelConfig, hidden: int) -> Module:
    widest = config.integer("decoder_hidden_size")
    # The reverse of downsampling, unless the file writes it.
    ratios = config.integers("downsampling_ratios")[::-1]
    if config.is_set("upsampling_ratios"):
        ratios = config.integers("upsampling_ratios")
    blocks: list[Module] = []
    width = widest
    for number, ratio in enumerate(ratios):
        # Halved from the widest each time, so that odd widths lose their fraction only once.
        inputs, width = widest >> number, widest >> (number + 1)
        unit = residual_unit(width)
        up = transposed_convolution(inputs, width, (2 * ratio,))
        parts = children(snake1=snake(inputs), conv_t1=up, res_unit1=unit, res_unit2=unit, res_unit3=unit)
        blocks.append(Module("DecoderBlock", children=parts))
    return Module(
        "Decoder",
        children=children(
            conv1=convolution(hidden, widest, (7,)),
            block=stack(*blocks),
            snake1=snake(width),
            conv2=convolution(width, 1, (7,)),
        ),
    )


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    # The latent width follows from the encoder's, unless the file writes it.
    derived = config.integer("encoder_hidden_size") << len(config.integers("downsampling_ratios"))
    hidden = config.integer("hidden_size", derived)
    size, dim = config.integer("codebook_size"), config.integer("codebook_dim")
    quantizer = Module(
        "VectorQuantize",
        children=children(
            in_proj=convolution(hidden, dim, (1,)),
            out_proj=convolution(dim, hidden, (1,)),
            codebook=embedding(size, dim),
        ),
    )
    books = uniform(quantizer, config.integer("n_codebooks"))
    return Module(
        "DacModel",
        children=children(
            encoder=encoder(config, hidden),
            decoder=decoder(config, hidden),
            quantizer=Module("ResidualVectorQuantizer", children=children(quantizers=books)),
        ),
        part="audio",
    )
