"""How one weight matrix is stored under each quantization format."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.record import Record

Stored = tuple[str, int]
"""safetensors-like torch dtype and number of scalars of one stored tensor."""


def _parts(size: int, block: int) -> int:
    return -(-size // block)


class Scheme(Record):
    """``stored(outputs, inputs)`` lists the tensors that replace a weight ``(outputs, inputs)``."""

    name: str

    def stored(self, outputs: int, inputs: int) -> tuple[Stored, ...]:
        raise AssertionError(f"{self.name}: {outputs} x {inputs} has no layout")


class EightBit(Scheme):
    """One byte a weight and scales: one for the tensor, each output row, each group of inputs, or each block.

    Sources: transformers' fine-grained FP8 (``weight_scale_inv``, float32), compressed-tensors and ModelOpt
    (``weight_scale``).
    """

    dtype: str
    scale_dtype: str
    strategy: Literal["tensor", "channel", "group", "block"]
    block: tuple[int, int] = (1, 1)
    input_scale: bool = False

    def stored(self, outputs: int, inputs: int) -> tuple[Stored, ...]:
        scales = {
            "tensor": 1,
            "channel": outputs,
            "group": outputs * _parts(inputs, self.block[1]),
            "block": _parts(outputs, self.block[0]) * _parts(inputs, self.block[1]),
        }[self.strategy]
        extra = ((self.scale_dtype, 1),) if self.input_scale else ()
        return ((self.dtype, outputs * inputs), (self.scale_dtype, scales), *extra)


class Gptq(Scheme):
    """qweight and qzeros packed in int32, float16 scales, and one int32 group index an input (AutoGPTQ's layout)."""

    bits: int
    group: int

    def stored(self, outputs: int, inputs: int) -> tuple[Stored, ...]:
        groups = _parts(inputs, self.group) if self.group > 0 else 1
        return (
            ("int32", _parts(inputs * self.bits, 32) * outputs),
            ("int32", groups * _parts(outputs * self.bits, 32)),
            ("float16", groups * outputs),
            ("int32", inputs),
        )


class Awq(Scheme):
    """qweight and qzeros packed along the outputs in int32, float16 scales (AutoAWQ's "gemm" layout)."""

    bits: int
    group: int

    def stored(self, outputs: int, inputs: int) -> tuple[Stored, ...]:
        groups = _parts(inputs, self.group) if self.group > 0 else 1
        packed = _parts(outputs * self.bits, 32)
        return (("int32", inputs * packed), ("int32", groups * packed), ("float16", groups * outputs))


class PackedIntegers(Scheme):
    """compressed-tensors "pack-quantized": int32 words, bfloat16 scales, the shape as two int64."""

    bits: int
    group: int | None
    symmetric: bool = True

    def stored(self, outputs: int, inputs: int) -> tuple[Stored, ...]:
        groups = 1 if self.group is None else _parts(inputs, self.group)
        zeros = () if self.symmetric else (("int32", groups * _parts(outputs * self.bits, 32)),)
        return (
            ("int32", outputs * _parts(inputs, 32 // self.bits)),
            ("bfloat16", outputs * groups),
            ("int64", 2),
            *zeros,
        )


class FourBitFloat(Scheme):
    """Two 4-bit floats a byte with one scale a group of inputs; NVFP4 adds global scales, MXFP4 has none.

    Sources: OCP Microscaling 1.0 (groups of 32, E8M0 scales); ModelOpt and compressed-tensors NVFP4 (groups of 16,
    FP8 scales, two float32 global scales).
    """

    group: int
    scale_dtype: str
    global_scales: int

    def stored(self, outputs: int, inputs: int) -> tuple[Stored, ...]:
        packed = (("uint8", outputs * _parts(inputs, 2)), (self.scale_dtype, outputs * _parts(inputs, self.group)))
        return (*packed, ("float32", self.global_scales)) if self.global_scales else packed


class BitsAndBytes(Scheme):
    """4 bits: bytes and one float32 maximum a block of 64; 8 bits: bytes and one float32 a row (bitsandbytes).

    The serialized quantization state (a few hundred bytes a matrix) is left out.
    """

    bits: int
    double_quantization: bool = False

    def stored(self, outputs: int, inputs: int) -> tuple[Stored, ...]:
        weights = outputs * inputs
        if self.bits == 8:
            return (("int8", weights), ("float32", outputs))
        blocks = _parts(weights, 64)
        if self.double_quantization:
            return (("uint8", _parts(weights, 2)), ("uint8", blocks), ("float32", _parts(blocks, 256)))
        return (("uint8", _parts(weights, 2)), ("float32", blocks))
