"""Convolutional autoencoders of images with a codebook (VQGAN, arXiv:2012.09841), as Chameleon and Janus have them."""

from __future__ import annotations

from collections.abc import Sequence

from neurarch_schemas.modules.layers import convolution, embedding, group_norm
from neurarch_schemas.modules.tree import Module, Stack, children, stack


def residual_block(inputs: int, outputs: int) -> Module:
    """Two convolutions with group norms; a pointwise convolution around them where the width changes."""
    shortcut = None if inputs == outputs else convolution(inputs, outputs, (1, 1))
    return Module(
        "ResidualBlock",
        children=children(
            norm1=group_norm(inputs),
            conv1=convolution(inputs, outputs, (3, 3)),
            norm2=group_norm(outputs),
            conv2=convolution(outputs, outputs, (3, 3)),
            nin_shortcut=shortcut,
        ),
    )


def pixel_attention(width: int) -> Module:
    """Attention among all places of a feature map, by pointwise convolutions."""
    pointwise = convolution(width, width, (1, 1))
    return Module(
        "PixelAttention",
        children=children(norm=group_norm(width), q=pointwise, k=pointwise, v=pointwise, proj_out=pointwise),
    )


def middle(width: int) -> Module:
    block = residual_block(width, width)
    return Module("Middle", children=children(block_1=block, attn_1=pixel_attention(width), block_2=block))


def resampling(width: int) -> Module:
    return Module("Resampling", children=children(conv=convolution(width, width, (3, 3))))


def level(inputs: int, outputs: int, blocks: int, *, attention: bool, resample: str | None) -> Module:
    """Residual blocks at one resolution, each followed by ``attention``; ``resample`` names what leads to the next."""
    first, rest = residual_block(inputs, outputs), (residual_block(outputs, outputs),) * (blocks - 1)
    looks = stack(pixel_attention(outputs), times=blocks) if attention else None
    steps: dict[str, Module | Stack | None] = {resample: resampling(outputs)} if resample else {}
    return Module(
        "Level", children=children(block=stack(*(first, *rest)[:blocks]) if blocks > 0 else None, attn=looks, **steps)
    )


def image_encoder(
    channels: int, base: int, multipliers: Sequence[int], blocks: int, outputs: int, attention: Sequence[bool]
) -> Module:
    """From pixels to ``outputs`` channels; every level but the last halves the resolution."""
    widths, inputs, levels = [base * multiplier for multiplier in multipliers], base, []
    for index, width in enumerate(widths):
        downsample = "downsample" if index < len(widths) - 1 else None
        levels.append(level(inputs, width, blocks, attention=attention[index], resample=downsample))
        inputs = width
    return Module(
        "ImageEncoder",
        children=children(
            conv_in=convolution(channels, base, (3, 3)),
            down=stack(*levels),
            mid=middle(inputs),
            norm_out=group_norm(inputs),
            conv_out=convolution(inputs, outputs, (3, 3)),
        ),
    )


def image_decoder(
    latent: int, base: int, multipliers: Sequence[int], blocks: int, outputs: int, attention: Sequence[bool]
) -> Module:
    """Back from ``latent`` channels to pixels, from the last multiplier to the first; ``attention`` in that order."""
    widths = [base * multiplier for multiplier in reversed(multipliers)]
    inputs, levels = widths[0], []
    for index, width in enumerate(widths):
        upsample = "upsample" if index < len(widths) - 1 else None
        levels.append(level(inputs, width, blocks, attention=attention[index], resample=upsample))
        inputs = width
    return Module(
        "ImageDecoder",
        children=children(
            conv_in=convolution(latent, widths[0], (3, 3)),
            mid=middle(widths[0]),
            up=stack(*levels),
            norm_out=group_norm(inputs),
            conv_out=convolution(inputs, outputs, (3, 3)),
        ),
    )


def codebook(entries: int, width: int) -> Module:
    return Module("VectorQuantizer", children=children(embedding=embedding(entries, width)))
