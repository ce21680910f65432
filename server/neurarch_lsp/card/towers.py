"""The work of vision and audio towers, which read their own input besides the tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.card.lengths import position_tables
from neurarch_schemas.accounting.activations import (
    boundary_scalars_per_token,
    scalars_per_token,
    score_bytes_per_pair,
    towers,
)
from neurarch_schemas.accounting.flops import tower_costs
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.modules.tree import Part


class TowerWork(Record):
    """Of one input; ``positions`` is None where the file does not tell them, and numbers are then of one position.

    ``encodes`` where the tower is the encoder of an encoder-decoder, so that it works for every sequence.
    """

    tower: Part
    positions: int | None
    operations: int
    kept_bytes: int
    boundary_bytes: int
    score_bytes: int
    encodes: bool


def tower_work(analysis: Analysis) -> tuple[TowerWork, ...]:
    """Operations of a forward pass and bytes of activations in 16 bits, for each tower that holds matrices."""
    tree, config = analysis.built.tree, analysis.config
    if tree is None or config is None:
        return ()
    costs = {part: cost for part, cost in tower_costs(tree).items() if cost.per_token}
    lengths = position_tables(tree) if costs else {}
    found = []
    for part, cost in costs.items():
        positions, networks = lengths.get(part), towers(tree, part)
        length = positions or 1
        found.append(
            TowerWork(
                part,
                positions,
                cost.per_token if positions is None else cost.prefill(length),
                2 * length * sum(map(scalars_per_token, networks)),
                2 * length * sum(map(boundary_scalars_per_token, networks)),
                length * length * sum(map(score_bytes_per_pair, networks)),
                config.get("is_encoder_decoder") is True and positions is not None,
            )
        )
    return tuple(found)


def encoding_operations(analysis: Analysis) -> int:
    """Of the towers that are encoders, for one sequence."""
    if analysis.config is None or analysis.config.get("is_encoder_decoder") is not True:
        return 0
    return sum(tower.operations for tower in tower_work(analysis) if tower.encodes)
