"""How long the sequences are that a card speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.modules.tree import Module, walk

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis

FALLBACK_LENGTH = 8192


def sequence_length(analysis: Analysis, assumed: Assumptions) -> int:
    """Tokens: as assumed, else the declared context, else as many positions as there are embeddings for."""
    config, tree = analysis.config, analysis.built.tree
    declared = declared_context(config) if config is not None else None
    learned = _position_rows(tree, None) if tree is not None else None
    return assumed.context or declared or learned or FALLBACK_LENGTH


def tower_length(tree: Module, tower: str) -> int | None:
    """Positions of a vision or audio tower, by its table of position embeddings.

    None where it has none, or one that is indexed by row and column.
    """
    return _position_rows(tree, tower)


def _position_rows(tree: Module, tower: str | None) -> int | None:
    for visit in walk(tree):
        if tower is not None and visit.part != tower:
            continue
        for tensor in visit.module.tensors:
            if (
                "position" in f"{visit.path}.{tensor.name}"
                and tensor.shape[-2:-1] > (1,)
                and set(tensor.shape[:-2]) <= {1}
            ):
                return tensor.shape[-2]
    return None
