"""The model in short: what stands over the first line and in its hover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.markup import Block, Text, code, escape
from neurarch_lsp.render.model_numbers import ModelNumbers, attention_kinds, numbers, tokens
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.quantities import binary_bytes, count, decimal_bytes

if TYPE_CHECKING:
    from neurarch_rules.engine.options import Options
    from neurarch_schemas.analysis import Analysis


def card(analysis: Analysis, options: Options) -> list[Block]:
    """The blocks of the first line's hover."""
    config = analysis.config
    if config is None:
        return [Text(f"A {analysis.kind.replace('_', ' ')} file.")]
    name = code(config.model_type) if config.model_type else "no model type"
    title = f"**{escape(config.architecture or 'Unknown architecture')}**, {name}"
    found = numbers(analysis, cache_dtype=options.serving.kv_cache_dtype)
    if found is None:
        return [Text(title), Text(f"No numbers: {escape(analysis.built.reason or 'the tensors are not known')}.")]
    facts = "\n".join(f"- {name}: **{value}**" for name, value in _rows(analysis, found))
    return [Text(title), Text(facts), *_notes(analysis, found)]


def _rows(analysis: Analysis, found: ModelNumbers) -> list[tuple[str, str]]:
    rows = [("Parameters", f"{found.total:,} ({count(found.total)})")]
    if found.is_sparse:
        rows.append(("Active per token", f"{found.active:,} ({count(found.active)}), without the input embedding"))
    elif found.active != found.total:
        rows.append(("Without the input embedding", f"{found.active:,} ({count(found.active)})"))
    kinds = attention_kinds(analysis)
    if kinds:
        rows.append(("Attention", ", ".join(f"{name} in {layers} layers" for name, layers in kinds[:4])))
    if found.cache_per_token is not None and found.cache_at_context is not None:
        per_token = f"{binary_bytes(found.cache_per_token)} per token"
        rows.append(
            ("KV cache", f"{per_token}, {decimal_bytes(found.cache_at_context)} at {tokens(found.context)} tokens")
        )
        if found.cache_constant:
            rows.append(("State", f"{decimal_bytes(found.cache_constant)} whatever the length"))
    dtype = f"{found.weights_dtype}, assumed" if found.dtype_is_assumed else found.weights_dtype
    rows.append(("Weights", f"{decimal_bytes(found.weights_bytes)} ({dtype})"))
    declared = declared_context(analysis.config) if analysis.config else None
    if declared is not None:
        rows.append(("Context", f"{declared:,} tokens"))
    return rows


def _notes(analysis: Analysis, found: ModelNumbers) -> list[Block]:
    notes: list[Block] = []
    if analysis.doubt is not None:
        notes.append(Text(f"Not exact: {escape(analysis.doubt)}."))
    if found.stored != found.total:
        notes.append(Text(f"Besides, {found.stored - found.total:,} scalars of buffers are stored."))
    checkpoint = analysis.checkpoint
    if checkpoint is not None:
        sizes = [
            f"{checkpoint.scalars:,} scalars" if checkpoint.scalars is not None else "",
            decimal_bytes(checkpoint.bytes) if checkpoint.bytes is not None else "",
        ]
        known = ", ".join(size for size in sizes if size)
        if known:
            notes.append(Text(f"The weight files hold {known}{'' if checkpoint.exact else ', estimated'}."))
        if checkpoint.mtp_parameters:
            notes.append(Text(f"{checkpoint.mtp_parameters:,} of them belong to multi-token prediction."))
    return notes


def one_line(analysis: Analysis, options: Options) -> str | None:
    """ "229B parameters · 9.78B active · 248 KiB/token · 457 GB bfloat16", None where nothing is known.

    What is not exact says why.
    """
    found = numbers(analysis, cache_dtype=options.serving.kv_cache_dtype)
    if found is None:
        return None
    parts = [f"{count(found.total)} parameters"]
    if found.is_sparse:
        parts.append(f"{count(found.active)} active")
    if found.cache_per_token:
        parts.append(f"{binary_bytes(found.cache_per_token)}/token")
    dtype = "" if found.dtype_is_assumed else f" {found.weights_dtype}"
    parts.append(f"{decimal_bytes(found.weights_bytes)}{dtype}")
    line = " · ".join(parts)
    return line if analysis.doubt is None else f"about {line} ({analysis.doubt})"
