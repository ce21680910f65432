"""The card of a Python file: its module classes in a table, then the submodules of each.

``--report FILE.py`` and the lens over a class in an editor show it; for one construction its tensors are listed too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neurarch_lsp.card.python_report import NO_CLASS, constructions, shapeless, split
from neurarch_lsp.features.python_models import ClassModel
from neurarch_lsp.features.python_outline import class_blocks
from neurarch_lsp.render.card_blocks import Block, Card, Note, Section, Table
from neurarch_lsp.render.markup import Block as Markup
from neurarch_lsp.render.markup import Table as MarkupTable
from neurarch_lsp.render.markup import to_plain, without_markup
from neurarch_schemas.accounting.quantities import binary_bytes

if TYPE_CHECKING:
    from neurarch_lsp.card.python_report import Construction

SUBTITLE = "as the constructors build it, without running it"
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
        return Card(title, SUBTITLE, (_section("classes", "Classes", (Note(reason, "notice"),)),))
    return class_card(title, [(item.line, _model(item)) for item in found], tensors=expression is not None)


def class_card(title: str, classes: Sequence[tuple[int | None, ClassModel]], *, tensors: bool = False) -> Card:
    """``classes`` with their 1-based lines, in the order of the file."""
    table = Table(CLASSES, tuple(_row(line, model) for line, model in classes), frozenset({1, 3, 4, 5}))
    sections = [_section("classes", "Construction" if tensors else "Classes", (table,))]
    for number, (_, model) in enumerate(classes):
        if model.tree is None:
            continue
        blocks: list[Block] = [_block(block) for block in class_blocks(model)]
        if tensors:
            blocks.append(Table(TENSORS, tuple(_tensors(model)), frozenset({2})))
        sections.append(_section(f"class-{number}", model.name, tuple(blocks)))
    return Card(title, SUBTITLE, tuple(sections))


def _section(key: str, title: str, blocks: tuple[Block, ...]) -> Section:
    return Section(key, title, blocks)


def _model(item: Construction) -> ClassModel:
    return ClassModel(
        item.name, (0, 0), item.construction, item.tree, item.exact, item.reason, incomplete=item.incomplete
    )


def _row(line: int | None, model: ClassModel) -> tuple[str, ...]:
    place = "" if line is None else str(line)
    if model.tree is None:
        return (model.name, place, model.construction or "", "not known", "", "", model.reason or "")
    from neurarch_schemas.accounting.kv_cache import kv_cache
    from neurarch_schemas.accounting.parameters import count_parameters

    counted, cache = count_parameters(model.tree), kv_cache(model.tree)
    return (
        model.name,
        place,
        model.construction or "",
        f"{'at least ' if model.incomplete else ''}{counted.total:,}",
        f"{counted.buffers:,}" if counted.buffers else "",
        binary_bytes(BYTES * cache.per_token) if cache is not None else "",
        "exact" if model.exact else f"estimated: {model.reason}",
    )


def _block(block: Markup) -> Block:
    if not isinstance(block, MarkupTable):
        return Note(to_plain([block]))
    rows = tuple(tuple(without_markup(cell) for cell in row) for row in block.rows)
    return Table(block.header, rows, numeric=frozenset({2, 3}))


def _tensors(model: ClassModel) -> Iterator[tuple[str, ...]]:
    from neurarch_schemas.modules.tree import rows

    assert model.tree is not None
    for row in rows(model.tree):
        shape = " x ".join(f"{size:,}" for size in row.shape) or shapeless(model.incomplete)
        yield row.name, shape, f"{row.count:,}", row.kind
