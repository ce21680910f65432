"""Bytes of the number formats that configs name, by their torch names."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

BYTES = MappingProxyType(
    {
        "float64": Fraction(8),
        "float32": Fraction(4),
        "float16": Fraction(2),
        "bfloat16": Fraction(2),
        "float8_e4m3fn": Fraction(1),
        "float8_e4m3fnuz": Fraction(1),
        "float8_e5m2": Fraction(1),
        "float8_e5m2fnuz": Fraction(1),
        "float8_e8m0fnu": Fraction(1),
        "float4_e2m1fn_x2": Fraction(1, 2),
        "int64": Fraction(8),
        "int32": Fraction(4),
        "int16": Fraction(2),
        "int8": Fraction(1),
        "uint8": Fraction(1),
        "bool": Fraction(1),
    }
)

_SHORT = MappingProxyType(
    {
        "fp64": "float64",
        "double": "float64",
        "fp32": "float32",
        "float": "float32",
        "fp16": "float16",
        "half": "float16",
        "bf16": "bfloat16",
        "fp8": "float8_e4m3fn",
        "fp8_e4m3": "float8_e4m3fn",
        "fp8_e5m2": "float8_e5m2",
    }
)


def torch_dtype(name: object) -> str | None:
    """The torch name of a dtype as written ("torch.bfloat16", "bf16"), None when it is none."""
    if not isinstance(name, str):
        return None
    name = name.removeprefix("torch.")
    name = _SHORT.get(name, name)
    return name if name in BYTES else None


def size_in_bytes(scalars: int, dtype: str) -> int:
    """Bytes of ``scalars`` in a torch dtype, rounded up to whole bytes."""
    size = BYTES[dtype]
    return -(-scalars * size.numerator // size.denominator)
