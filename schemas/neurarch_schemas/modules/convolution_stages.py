"""Blocks of convolutional networks: a convolution with its batch norm, and channel counts rounded to a divisor."""

from __future__ import annotations

from neurarch_schemas.modules.layers import batch_norm, convolution
from neurarch_schemas.modules.tree import Module, named


def convolution_norm(
    inputs: int,
    outputs: int,
    kernel: int = 3,
    *,
    groups: int = 1,
    bias: bool = False,
    norm: bool = True,
    names: tuple[str, str] = ("convolution", "normalization"),
) -> Module:
    """A square convolution and a batch norm over its outputs."""
    first, second = names
    children = {first: convolution(inputs, outputs, (kernel, kernel), bias=bias, groups=groups)}
    if norm:
        children[second] = batch_norm(outputs)
    return Module("ConvNorm", children=named(children), part="convolution", width_out=outputs)


def make_divisible(value: float, divisor: int = 8, least: int | None = None) -> int:
    """The multiple of ``divisor`` nearest to ``value``, never more than a tenth below it.

    Source: MobileNetV2 (arXiv:1801.04381), the reference implementation's rounding of channels.
    """
    rounded = max(divisor if least is None else least, int(value + divisor / 2) // divisor * divisor)
    return int(rounded + divisor if rounded < 0.9 * value else rounded)
