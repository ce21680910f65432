"""The work of vision and audio towers, which read their own input besides the tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.card.lengths import tower_length
from neurarch_schemas.accounting.activations import (
    boundary_scalars_per_token,
    scalars_per_token,
    score_bytes_per_pair,
    towers,
)
from neurarch_schemas.accounting.flops import tower_cost
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.modules.tree import Part

PARTS: tuple[Part, ...] = ("vision", "audio")


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
    tree, config = analysis.built.tree, analysis.config
    if tree is None or config is None:
        return ()
    found = []
    for part in PARTS:
        cost = tower_cost(tree, part)
        if not cost.per_token:
            continue
        positions, networks = tower_length(tree, part), towers(tree, part)
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
