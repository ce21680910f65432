"""The report of a model as blocks, for Markdown and HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.markup import Block, Heading, Table, Text, code, escape
from neurarch_lsp.render.model_card import card
from neurarch_lsp.render.model_numbers import numbers, tokens
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.accounting.quantities import binary_bytes, count, decimal_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neurarch_rules.engine.finding import Finding
    from neurarch_rules.engine.options import Options
    from neurarch_schemas.analysis import Analysis

LENGTHS = (1_024, 8_192, 32_768, 131_072, 1_048_576)
MAX_ROWS = 400


def report(analysis: Analysis, options: Options, findings: Sequence[Finding] = ()) -> list[Block]:
    blocks = list(card(analysis, options))
    blocks += _parts(analysis)
    blocks += _cache(analysis, options)
    blocks += _layers(analysis)
    blocks += _findings(findings)
    blocks += _tensors(analysis)
    return blocks


def _parts(analysis: Analysis) -> list[Block]:
    counted = analysis.parameters
    if counted is None or not counted.total:
        return []
    parts = sorted(counted.by_part, key=lambda item: -item[1])
    rows = tuple((part, f"{scalars:,}", f"{100 * scalars / counted.total:.1f} %") for part, scalars in parts)
    return [Heading("Parameters by part"), Table(("part", "parameters", "share"), rows)]


def _cache(analysis: Analysis, options: Options) -> list[Block]:
    cache, found = analysis.kv_cache, numbers(analysis, cache_dtype=options.serving.kv_cache_dtype)
    if cache is None or found is None or analysis.config is None:
        return []
    declared = declared_context(analysis.config)
    lengths = sorted(
        {length for length in LENGTHS if declared is None or length < declared} | ({declared} if declared else set())
    )
    rows = tuple(
        (tokens(length), decimal_bytes(size), decimal_bytes(size + found.weights_bytes))
        for length, size in ((length, size_in_bytes(cache.at(length), found.cache_dtype)) for length in lengths)
    )
    title = f"KV cache of one sequence in {found.cache_dtype}, {binary_bytes(found.cache_per_token or 0)} per token"
    return [Heading(title), Table(("tokens", "KV cache", "with weights"), rows)]


def _layers(analysis: Analysis) -> list[Block]:
    from neurarch_lsp.features.layers import layer_runs

    runs = layer_runs(analysis)
    if not runs:
        return []
    rows = tuple(
        (f"{run.first}-{run.last}" if run.last > run.first else str(run.first), escape(run.text)) for run in runs
    )
    return [Heading("Layers"), Table(("layers", "what they are"), rows)]


def _findings(findings: Sequence[Finding]) -> list[Block]:
    if not findings:
        return []
    rows = tuple((finding.severity or "", code(finding.rule), escape(finding.message)) for finding in findings)
    return [Heading("Findings"), Table(("severity", "rule", "message"), rows)]


def _tensors(analysis: Analysis) -> list[Block]:
    rows = analysis.rows
    if not rows:
        return []
    shown = tuple(
        (
            code(row.name),
            " x ".join(f"{size:,}" for size in row.shape) or "scalar",
            f"{row.count:,}",
            count(row.scalars),
            row.kind,
        )
        for row in rows[:MAX_ROWS]
    )
    blocks: list[Block] = [Heading("Tensors"), Table(("name", "shape", "times", "scalars", "kind"), shown)]
    if len(rows) > MAX_ROWS:
        blocks.append(Text(f"and {len(rows) - MAX_ROWS} more"))
    return blocks
