"""How long the sequences are that a card speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.modules.tree import Module, Part, walk

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis

FALLBACK_LENGTH = 8192


def sequence_length(analysis: Analysis, assumed: Assumptions) -> int:
    """Tokens: as assumed, else the declared context, else as many positions as there are embeddings for."""
    config, tree = analysis.config, analysis.built.tree
    declared = declared_context(config) if config is not None else None
    if assumed.context or declared or tree is None:
        return assumed.context or declared or FALLBACK_LENGTH
    return next(iter(position_tables(tree).values()), FALLBACK_LENGTH)


def position_tables(tree: Module) -> dict[Part, int]:
    """Rows of the first table of position embeddings in each part; a tower has as many positions.

    A table that is indexed by row and column tells none.
    """
    found: dict[Part, int] = {}
    for visit in walk(tree):
        for tensor in visit.module.tensors:
            is_table = tensor.shape[-2:-1] > (1,) and set(tensor.shape[:-2]) <= {1}
            if is_table and ("position" in tensor.name or "position" in visit.path):
                found.setdefault(visit.part, tensor.shape[-2])
    return found
