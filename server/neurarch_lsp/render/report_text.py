"""The report of a model as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neurarch_lsp.render.report_json import DEFAULT_CONTEXT
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.accounting.quantities import binary_bytes, count, decimal_bytes

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis


def report_text(file: str, analysis: Analysis, contexts: Sequence[int] = (), cache_dtype: str | None = None) -> str:
    config = analysis.config
    if config is None:
        return f"{file}: the file describes no model\n"
    lines = [file, f"  {config.model_type or 'unknown model type'}, {config.architecture or 'no architecture'}"]
    counted = analysis.parameters
    if counted is None:
        lines.append(f"  parameters     unknown: {analysis.built.reason}")
        return "\n".join(lines) + "\n"
    lines.append(f"  parameters     {counted.total:,} ({count(counted.total)}), {_certainty(analysis)}")
    if counted.active_with_embeddings != counted.total:
        lines.append(f"  active         {counted.active:,} per token without the input embedding")
        lines.append(f"                 {counted.active_with_embeddings:,} with it")
    if counted.buffers:
        lines.append(f"  buffers        {counted.buffers:,}; {counted.stored:,} scalars stored")
    lines += _weights(analysis)
    lines += _cache(analysis, contexts, cache_dtype)
    lines.append("  by part")
    for part, scalars in sorted(counted.by_part, key=lambda item: -item[1]):
        lines.append(f"    {part:<16} {scalars:>22,}  {100 * scalars / max(counted.total, 1):5.1f} %")
    lines.append("  tensors")
    for row in analysis.rows or ():
        shape = " x ".join(f"{size:,}" for size in row.shape) or "scalar"
        kind = "" if row.kind == "parameter" else "  buffer"
        lines.append(f"    {row.name:<56} {shape:>24}  x{row.count:,}{kind}")
    return "\n".join(lines) + "\n"


def _certainty(analysis: Analysis) -> str:
    return "exact" if analysis.doubt is None else f"not exact: {analysis.doubt}"


def _weights(analysis: Analysis) -> list[str]:
    weights = analysis.weights
    if weights is None:
        return []
    origin = "" if weights.dtype_origin == "written" else ", assumed: the file names no dtype"
    lines = [f"  weights        {decimal_bytes(weights.bytes)} in {weights.dtype}{origin}"]
    checkpoint = analysis.checkpoint
    if checkpoint is not None and (checkpoint.scalars is None or checkpoint.bytes is None):
        lines.append(f"  checkpoint     unknown: {checkpoint.reason}")
    elif checkpoint is not None and checkpoint.scalars is not None and checkpoint.bytes is not None:
        note = "" if checkpoint.exact else f", estimated: {checkpoint.reason}"
        lines.append(f"  checkpoint     {checkpoint.scalars:,} scalars, {decimal_bytes(checkpoint.bytes)}{note}")
    return lines


def _cache(analysis: Analysis, contexts: Sequence[int], chosen: str | None) -> list[str]:
    cache, config = analysis.kv_cache, analysis.config
    if cache is None or config is None:
        return []
    dtype = analysis.cache_dtype(chosen)
    lines = [f"  KV cache       {binary_bytes(size_in_bytes(cache.per_token, dtype))} per token in {dtype}"]
    if cache.constant:
        lines.append(f"                 {decimal_bytes(size_in_bytes(cache.constant, dtype))} of constant state")
    lengths = contexts or sorted({DEFAULT_CONTEXT, declared_context(config) or DEFAULT_CONTEXT})
    sizes = [(length, size_in_bytes(cache.at(length), dtype)) for length in lengths]
    return lines + [f"                 {decimal_bytes(size)} at {length:,} tokens" for length, size in sizes]
