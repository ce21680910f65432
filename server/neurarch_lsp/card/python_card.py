"""The report of a Python file as a card: its module classes in a table, and the tensors of one construction."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neurarch_lsp.card.python_report import NO_CLASS, constructions, split
from neurarch_lsp.features.lens_card import SUBTITLE
from neurarch_lsp.render.card_blocks import Block, Card, Note, Section, Table
from neurarch_schemas.accounting.quantities import binary_bytes

if TYPE_CHECKING:
    from neurarch_lsp.card.python_report import Construction

BYTES = 2
"""Of one cached scalar: code does not say a dtype."""
CLASSES = ("class", "line", "construction", "parameters", "buffers", "KV cache per token, 2 bytes", "how sure")
TENSORS = ("tensor", "shape", "count", "kind")


def python_card(name: str, search_paths: Sequence[str]) -> Card:
    """``name`` is FILE.py, or FILE.py:EXPRESSION for one construction."""
    path, expression = split(name)
    title = os.path.basename(path)
    found = constructions(path, expression, search_paths)
    if isinstance(found, str) or not found:
        reason = found if isinstance(found, str) else NO_CLASS
        return Card(title, SUBTITLE, (_section("classes", "Classes", Note(reason, "notice")),))
    table = Table(CLASSES, tuple(map(_row, found)), frozenset({1, 3, 4, 5}))
    sections = [_section("classes", "Classes" if expression is None else "Construction", table)]
    if expression is not None:
        sections += (
            _section("tensors", "Tensors", Table(TENSORS, tuple(_tensors(item)), frozenset({2})))
            for item in found
            if item.tree is not None
        )
    return Card(title, SUBTITLE, tuple(sections))


def _section(key: str, title: str, block: Block) -> Section:
    return Section(key, title, (block,))


def _row(item: Construction) -> tuple[str, ...]:
    line = "" if item.line is None else str(item.line)
    if item.tree is None:
        return (item.name, line, item.construction or "", "not known", "", "", item.reason or "")
    from neurarch_schemas.accounting.kv_cache import kv_cache
    from neurarch_schemas.accounting.parameters import count_parameters

    counted, cache = count_parameters(item.tree), kv_cache(item.tree)
    return (
        item.name,
        line,
        item.construction or "",
        f"{'at least ' if item.incomplete else ''}{counted.total:,}",
        f"{counted.buffers:,}" if counted.buffers else "",
        binary_bytes(BYTES * cache.per_token) if cache is not None else "",
        "exact" if item.exact else f"estimated: {item.reason}",
    )


def _tensors(item: Construction) -> Iterator[tuple[str, ...]]:
    from neurarch_schemas.modules.tree import rows

    assert item.tree is not None
    for row in rows(item.tree):
        shape = " x ".join(f"{size:,}" for size in row.shape) or item.shapeless
        yield row.name, shape, f"{row.count:,}", row.kind
