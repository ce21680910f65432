"""Convolutions, plain and transposed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.torch_nn.layers.common import Initializer, optional, parameter, repeated
from neurarch_schemas.interpreter.values import Instance, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def convolution(dimensions: int, transposed: bool) -> Initializer:
    def build(
        machine: Machine,
        self: Instance,
        in_channels: Value,
        out_channels: Value,
        kernel_size: Value,
        stride: Value,
        padding: Value,
        output_padding: Value,
        groups: Value,
        bias: Value,
        dilation: Value,
        padding_mode: Value,
    ) -> None:
        kernel = repeated(machine, kernel_size, dimensions)
        self.attrs.update(
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel,
            stride=repeated(machine, stride, dimensions),
            padding=repeated(machine, padding, dimensions),
            dilation=repeated(machine, dilation, dimensions),
            transposed=transposed,
            output_padding=repeated(machine, output_padding, dimensions),
            groups=groups,
            padding_mode=padding_mode,
        )
        if isinstance(groups, int) and isinstance(in_channels, int) and isinstance(out_channels, int):
            if groups <= 0:
                machine.fail("ValueError", "groups must be a positive integer")
            if in_channels % groups != 0:
                machine.fail("ValueError", "in_channels must be divisible by groups")
            if out_channels % groups != 0:
                machine.fail("ValueError", "out_channels must be divisible by groups")
        sizes = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        second = machine.binary(ast.FloorDiv, sizes[1], groups)
        parameter(machine, self, "weight", sizes[0], second, *kernel)
        optional(machine, self, "bias", bias, out_channels)

    if transposed:

        def transposed_init(
            machine: Machine,
            self: Instance,
            in_channels: Value,
            out_channels: Value,
            kernel_size: Value,
            stride: Value = 1,
            padding: Value = 0,
            output_padding: Value = 0,
            groups: Value = 1,
            bias: Value = True,
            dilation: Value = 1,
            padding_mode: Value = "zeros",
            device: Value = None,
            dtype: Value = None,
        ) -> None:
            build(
                machine,
                self,
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                output_padding,
                groups,
                bias,
                dilation,
                padding_mode,
            )

        return transposed_init

    def plain_init(
        machine: Machine,
        self: Instance,
        in_channels: Value,
        out_channels: Value,
        kernel_size: Value,
        stride: Value = 1,
        padding: Value = 0,
        dilation: Value = 1,
        groups: Value = 1,
        bias: Value = True,
        padding_mode: Value = "zeros",
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        build(
            machine,
            self,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            0,
            groups,
            bias,
            dilation,
            padding_mode,
        )

    return plain_init
