"""The report that the lens over a module class opens: each class of the file with its submodules.

``card/python_card.py`` is that of ``--report FILE.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.features.python_outline import class_blocks
from neurarch_lsp.render import card_blocks
from neurarch_lsp.render.markup import Block, Table, to_plain, without_markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neurarch_lsp.features.python_models import ClassModel

SUBTITLE = "as the constructors build it, without running it"


def lens_card(name: str, models: Sequence[ClassModel]) -> card_blocks.Card:
    """``models`` are the classes of the file ``name``, in its order."""
    sections = tuple(
        card_blocks.Section(f"class-{number}", model.name, tuple(_block(block) for block in class_blocks(model)))
        for number, model in enumerate(models)
    )
    return card_blocks.Card(name, SUBTITLE, sections)


def _block(block: Block) -> card_blocks.Block:
    if not isinstance(block, Table):
        return card_blocks.Note(to_plain([block]))
    rows = tuple(tuple(without_markup(cell) for cell in row) for row in block.rows)
    return card_blocks.Table(block.header, rows, numeric=frozenset({2, 3}))
