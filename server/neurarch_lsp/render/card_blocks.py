"""What a card is made of. Renderers turn blocks into text, Markdown or HTML; ``data`` is the same for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from neurarch_schemas.record import Record

Tone = Literal["plain", "good", "notice", "bad"]


class Note(Record):
    """A paragraph."""

    text: str
    tone: Tone = "plain"


class Facts(Record):
    """Label and value pairs."""

    rows: tuple[tuple[str, str], ...]


class Table(Record):
    """``numeric`` are the columns set flush right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    caption: str = ""


class Bars(Record):
    """Shares of a whole: label, amount as text, share from 0 to 1."""

    rows: tuple[tuple[str, str, float], ...]
    caption: str = ""


class Labels(Record):
    """Concepts: label, one sentence, source."""

    rows: tuple[tuple[str, str, str], ...]


class Plot(Record):
    """A line through ``points``; both axes from zero."""

    points: tuple[tuple[float, float], ...]
    x_label: str
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    title: str


class Figure(Record):
    """A drawing of its own: the structure of the network."""

    svg: str
    text: str
    """The same in words, for terminals and readers that show no images."""


Block: TypeAlias = Note | Facts | Table | Bars | Labels | Plot | Figure


class Section(Record):
    """``key`` names the section in JSON and anchors; ``data`` is JSON-able and belongs to the published schema."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    data: Mapping[str, Any] = {}


class Card(Record):
    title: str
    subtitle: str
    sections: tuple[Section, ...]

    def section(self, key: str) -> Section | None:
        return next((section for section in self.sections if section.key == key), None)
