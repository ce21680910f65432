"""Bytes of the weights in the dtype a config states."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.accounting.dtypes import size_in_bytes, torch_dtype
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.record import Record

DtypeOrigin = Literal["written", "assumed"]


class Weights(Record):
    """``bytes`` are those of all stored scalars, quantization left aside."""

    bytes: int
    dtype: str
    dtype_origin: DtypeOrigin


def weights_dtype(config: ModelConfig) -> tuple[str, DtypeOrigin]:
    """The dtype written in the config or, failing that, in a nested one; bfloat16 is assumed (2 bytes) otherwise."""
    for source in (config, *config.nested.values()):
        for key in ("dtype", "torch_dtype"):
            setting = source.setting(key)
            dtype = torch_dtype(setting.value) if setting is not None and setting.origin == "written" else None
            if dtype is not None:
                return dtype, "written"
    return "bfloat16", "assumed"


def weigh(stored_scalars: int, config: ModelConfig) -> Weights:
    dtype, origin = weights_dtype(config)
    return Weights(size_in_bytes(stored_scalars, dtype), dtype, origin)


def cache_dtype(config: ModelConfig, chosen: str | None = None) -> str:
    """The KV cache's dtype: ``chosen`` (a setting), else the config's KV-cache quantization, else the weights' dtype.

    Source of the quantization keys: compressed-tensors (``kv_cache_scheme``) and ModelOpt (``kv_cache_quant_algo``,
    ``kv_cache_scheme``). A quantization of the weights does not change the cache.
    """
    found = torch_dtype(chosen)
    if found is not None:
        return found
    quantization = config.get("quantization_config")
    if isinstance(quantization, dict):
        algorithm = quantization.get("kv_cache_quant_algo")
        if isinstance(algorithm, str) and algorithm.upper() == "FP8":
            return "float8_e4m3fn"
        scheme = quantization.get("kv_cache_scheme")
        if isinstance(scheme, dict) and scheme.get("num_bits") == 8:
            return "int8" if scheme.get("type") == "int" else "float8_e4m3fn"
    return weights_dtype(config)[0]
