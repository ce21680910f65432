"""The most similar published models, and other checkpoints of the same type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.card.features import features, reasons
from neurarch_lsp.card.similar import catalogue, folder_models, most_similar
from neurarch_lsp.render.card_blocks import Note, Section, Table
from neurarch_schemas.accounting.quantities import count

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis

MOST = 6
MOST_SIBLINGS = 8


def section(analysis: Analysis, assumed: Assumptions) -> Section | None:
    mine = features(analysis)
    if mine is None:
        return None
    known = catalogue() + (folder_models(assumed.models) if assumed.models else ())
    ranked = most_similar(mine, known)
    matches = ranked[:MOST]
    rows = tuple(
        (
            f"{match.score:.3f}",
            match.known.name,
            match.known.lab,
            match.known.released or "",
            reasons(mine, match.known.features) if match.known.features else "",
        )
        for match in matches
    )
    blocks: list[Table | Note] = [Table(("score", "model", "lab", "released", "why"), rows, numeric=frozenset({0}))]
    same_type = [
        match.known
        for match in ranked
        if match.known.features and match.known.features.words.get("model_type") == mine.words["model_type"]
    ]
    listed = tuple(
        (entry.name, count(entry.counts[0]), count(entry.counts[1]))
        for entry in same_type[:MOST_SIBLINGS]
        if entry.counts is not None
    )
    if listed:
        more = f" (the {len(listed)} most similar of {len(same_type)})" if len(same_type) > len(listed) else ""
        caption = f"Checkpoints of type {mine.words['model_type']}{more}"
        blocks.append(Table(("model", "parameters", "active"), listed, numeric=frozenset({1, 2}), caption=caption))
    blocks.append(Note("The score is a weighted mean over sizes, kind and concepts; its formula is in docs/cost.md."))
    return Section(
        "similar",
        "Most similar models",
        tuple(blocks),
        {
            "matches": [
                {"name": match.known.name, "score": round(match.score, 4), "released": match.known.released}
                for match in matches
            ]
        },
    )
