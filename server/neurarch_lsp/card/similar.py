"""The offline catalogue of published models: which are most like this one, and which came before it."""

from __future__ import annotations

import json
import os
import re
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from neurarch_lsp.card.features import Features, features, similarity
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis

SAME = 0.9995
"""Scores that print as 1.000."""


class Known(Record):
    """A published model; ``features`` None where its structure is not known. ``released`` is a month, "2025-10"."""

    name: str
    lab: str
    released: str | None
    settings: dict[str, Any]
    features: Features | None

    def analysis(self) -> Analysis | None:
        """What is known about it, from the settings that the catalogue keeps."""
        from neurarch_rules.engine.analyse import analyse_text

        return analyse_text(f"{self.name}/config.json", json.dumps(self.settings))

    @cached_property
    def counts(self) -> tuple[int, int] | None:
        """Parameters, and those active per token."""
        analysis = self.analysis()
        counted = None if analysis is None else analysis.parameters
        return None if counted is None else (counted.total, counted.active)

    @property
    def series(self) -> str:
        """The name without organisation and numbers: "MiniMax-M2.5" and "MiniMax-M1" are of one series."""
        return re.split(r"\d", self.name.rpartition("/")[2].lower(), maxsplit=1)[0].rstrip("-_.v")


class Match(Record):
    known: Known
    score: float


@cache
def catalogue() -> tuple[Known, ...]:
    with open(os.path.join(os.path.dirname(__file__), "profiles.json"), encoding="utf-8") as stream:
        return tuple(_known(entry) for entry in json.load(stream))


def most_similar(found: Features, known: tuple[Known, ...] | None = None) -> tuple[Match, ...]:
    """All of ``known``, or of the catalogue, that have features; the most similar first."""
    matches = [
        Match(entry, similarity(found, entry.features))
        for entry in (catalogue() if known is None else known)
        if entry.features is not None
    ]
    matches.sort(key=lambda match: (-match.score, match.known.name))
    return tuple(matches)


def counterpart(analysis: Analysis) -> Known | None:
    """The predecessor (same series, released before, latest of those), else the most similar other model."""
    mine = features(analysis)
    if mine is None:
        return None
    matches = most_similar(mine)
    self_match = next((match.known for match in matches if match.score >= SAME), None)
    if self_match is not None and self_match.released is not None:
        earlier = [
            entry
            for entry in catalogue()
            if entry.series == self_match.series and entry.released is not None and entry.released < self_match.released
        ]
        if earlier:
            scores = {match.known.name: match.score for match in matches}
            return max(earlier, key=lambda entry: (entry.released or "", scores.get(entry.name, 0.0)))
    return next((match.known for match in matches if match.score < SAME), None)


def folder_models(folder: str) -> tuple[Known, ...]:
    """Models of a folder of the user's own: NAME.json, or NAME/config.json."""
    from neurarch_rules.engine.analyse import analyse_text

    found: list[Known] = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            if not file.endswith(".json") or file.startswith("."):
                continue
            path = os.path.join(place, file)
            with open(path, encoding="utf-8", errors="replace") as stream:
                analysis = analyse_text(os.path.join(place, "config.json"), stream.read())
            data = analysis.document.data if analysis is not None and analysis.config is not None else None
            if analysis is not None and isinstance(data, dict):
                name = os.path.basename(place) if file == "config.json" else file.removesuffix(".json")
                found.append(Known(name, "", None, data, features(analysis)))
    return tuple(found)


def _known(entry: dict[str, Any]) -> Known:
    stored = entry.get("features")
    return Known(
        entry["name"],
        entry["lab"],
        entry["released"],
        entry["settings"],
        Features.of(stored) if stored is not None else None,
    )
