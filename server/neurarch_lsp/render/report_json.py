"""The JSON of ``--report``: a contract, extended but never renamed. Counts and bytes are integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.dtypes import size_in_bytes

if TYPE_CHECKING:
    from neurarch_schemas.accounting.adapter import Adapter
    from neurarch_schemas.accounting.kv_cache import KVCache
    from neurarch_schemas.accounting.parameters import ParameterCount
    from neurarch_schemas.analysis import Analysis

DEFAULT_CONTEXT = 8192

Entry = dict[str, Any]


def failed_entry(file: str, error: str) -> Entry:
    """A file about which nothing can be said, and why."""
    return {
        "file": file,
        "error": error,
        "model_type": None,
        "architecture": None,
        "parameters": None,
        "tensors": None,
        "kv_cache": None,
        "weights": None,
        "checkpoint": None,
    }


def entry(file: str, analysis: Analysis, contexts: Sequence[int] = (), cache_dtype: str | None = None) -> Entry:
    """``contexts`` are the lengths of ``at``; the default is 8,192 and the declared maximum."""
    analysis = analysis.informed
    config = analysis.config
    if config is None and analysis.adapter is not None:
        return {**failed_entry(file, ""), "error": None, "adapter": _adapter(analysis.adapter)}
    if config is None:
        return failed_entry(file, "the file describes no model")
    lengths = list(contexts) or sorted({DEFAULT_CONTEXT, declared_context(config) or DEFAULT_CONTEXT})
    return {
        "file": file,
        "error": None,
        "model_type": config.model_type or None,
        "architecture": config.architecture or None,
        "parameters": parameters_entry(
            analysis.parameters,
            exact=analysis.parameters is not None and analysis.doubt is None,
            reason=analysis.built.reason or analysis.doubt,
        ),
        "tensors": _tensors(analysis),
        "kv_cache": _kv_cache(analysis, lengths, cache_dtype),
        "weights": _weights(analysis),
        "checkpoint": _checkpoint(analysis),
    }


def parameters_entry(count: ParameterCount | None, *, exact: bool, reason: str | None) -> Entry:
    return {
        "total": None if count is None else count.total,
        "active": None if count is None else count.active,
        "active_with_embeddings": None if count is None else count.active_with_embeddings,
        "buffers": None if count is None else count.buffers,
        "stored": None if count is None else count.stored,
        "by_part": None if count is None else dict(count.by_part),
        "exact": exact,
        "reason": reason,
    }


def _tensors(analysis: Analysis) -> list[list[Any]] | None:
    rows = analysis.rows
    return None if rows is None else [[row.name, list(row.shape), row.kind, row.count] for row in rows]


def _kv_cache(analysis: Analysis, lengths: Sequence[int], chosen: str | None) -> Entry | None:
    cache = analysis.kv_cache
    if cache is None:
        return None
    doubt = analysis.doubt
    return {**kv_cache_entry(cache, analysis.cache_dtype(chosen), lengths), "exact": doubt is None, "reason": doubt}


def kv_cache_entry(cache: KVCache, dtype: str, lengths: Sequence[int]) -> Entry:
    return {
        "bytes_per_token": size_in_bytes(cache.per_token, dtype),
        "bytes_per_token_expanded": size_in_bytes(cache.per_token_expanded, dtype),
        "constant_bytes": size_in_bytes(cache.constant, dtype),
        "dtype": dtype,
        "at": {str(length): size_in_bytes(cache.at(length), dtype) for length in lengths},
        "transformers": {"scalars_at": {str(length): cache.transformers_at(length) for length in lengths}},
        "exact": True,
        "reason": None,
    }


def _weights(analysis: Analysis) -> Entry | None:
    weights = analysis.weights
    if weights is None:
        return None
    return {"bytes": weights.bytes, "dtype": weights.dtype, "dtype_origin": weights.dtype_origin}


def _adapter(adapter: Adapter) -> Entry:
    return {
        "trainable": adapter.trainable,
        "modules": adapter.modules,
        "exact": adapter.exact,
        "reason": adapter.reason,
    }


def _checkpoint(analysis: Analysis) -> Entry | None:
    checkpoint = analysis.checkpoint
    if checkpoint is None:
        return None
    return {
        "scalars": checkpoint.scalars,
        "bytes": checkpoint.bytes,
        "mtp_parameters": checkpoint.mtp_parameters,
        "exact": checkpoint.exact,
        "reason": checkpoint.reason,
    }
