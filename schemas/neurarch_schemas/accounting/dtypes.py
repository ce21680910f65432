"""Sizes of the number formats that configs name, by their torch names."""

from __future__ import annotations

from types import MappingProxyType

BITS = MappingProxyType(
    {
        "float64": 64,
        "float32": 32,
        "float16": 16,
        "bfloat16": 16,
        "float8_e4m3fn": 8,
        "float8_e4m3fnuz": 8,
        "float8_e5m2": 8,
        "float8_e5m2fnuz": 8,
        "float8_e8m0fnu": 8,
        "float4_e2m1fn_x2": 4,
        "int64": 64,
        "int32": 32,
        "int16": 16,
        "int8": 8,
        "uint8": 8,
        "bool": 8,
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
    return name if name in BITS else None


def size_in_bytes(scalars: int, dtype: str) -> int:
    """Bytes of ``scalars`` in a torch dtype, rounded up to whole bytes."""
    return -(-scalars * BITS[dtype] // 8)
