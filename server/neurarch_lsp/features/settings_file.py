"""What is wrong in a settings file, at the place where it is written."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_lsp.settings.find import NAMES, SettingsError, SettingsFile

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span

_HEADER = re.compile(r"^[ \t]*(\[\[?)[ \t]*([^\]\n]+?)[ \t]*\]\]?", re.MULTILINE)
_PAIR = re.compile(
    r"^[ \t]*((?:\"[^\"\n]*\"|'[^'\n]*'|[\w-]+)(?:[ \t]*\.[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|[\w-]+))*)[ \t]*=",
    re.MULTILINE,
)
_AT = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)")

Path = tuple[str | int, ...]


def is_settings_file(name: str) -> bool:
    return name in NAMES


def problems(path: str, text: str) -> list[tuple[Span, str]]:
    """Spans and messages; [] for a sound file and for a pyproject.toml without our table."""
    name = os.path.basename(path)
    prefix: Path = ("tool", "neurarch-lsp") if name == "pyproject.toml" else ()
    if prefix and "neurarch-lsp" not in text:
        return []
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return (
            [] if prefix else [(_span_of_error(text, str(error)), f"not valid TOML: {_AT.sub('', str(error)).strip()}")]
        )
    table: object = data
    for key in prefix:
        table = table.get(str(key)) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        return []
    return list(_validate(path, text, table, prefix))


def _validate(path: str, text: str, table: dict[str, object], prefix: Path) -> Iterator[tuple[Span, str]]:
    from pydantic import ValidationError

    from neurarch_lsp.settings.model import SettingsModel
    from neurarch_lsp.settings.validate import validate

    places = _places(text)
    try:
        SettingsModel.model_validate(table)
    except ValidationError as error:
        for item in error.errors():
            where = (*prefix, *item["loc"])
            message = (
                "unknown setting" if item["type"] == "extra_forbidden" else item["msg"].removeprefix("Value error, ")
            )
            yield _nearest(places, where, text), f"{'.'.join(str(part) for part in item['loc'])}: {message}"
        return
    try:
        validate(SettingsFile(path, os.path.dirname(path), table))
    except SettingsError as error:
        named = re.search(r"'([^']+)'", error.message)
        at = text.find(named[1]) if named else -1
        yield ((at, at + len(named[1])) if named and at >= 0 else (0, 0)), error.message


def _places(text: str) -> dict[Path, Span]:
    """Spans of the keys and table headers, by path; elements of arrays of tables by their number."""
    found: dict[Path, Span] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    marks = sorted([*_HEADER.finditer(text), *_PAIR.finditer(text)], key=lambda match: match.start())
    for match in marks:
        if match.re is _HEADER:
            table = _path(match[2])
            if match[1] == "[[":
                number = counts.get(table, 0)
                counts[table] = number + 1
                found.setdefault(table, match.span(2))
                table = (*table, number)
            found[table] = match.span(2)
        else:
            found[(*table, *_path(match[1]))] = match.span(1)
    return found


def _path(text: str) -> Path:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.\s]+", text))


def _nearest(places: dict[Path, Span], where: Path, text: str) -> Span:
    for length in range(len(where), 0, -1):
        span = places.get(where[:length])
        if span is not None:
            return span
    return (0, min(len(text), 1))


def _span_of_error(text: str, message: str) -> Span:
    match = _AT.search(message)
    if match is None or match[1] is None:
        return (max(len(text) - 1, 0), len(text))
    lines = text.split("\n")
    number = min(int(match[1]), len(lines)) - 1
    start = sum(len(line) + 1 for line in lines[:number]) + int(match[2]) - 1
    start = min(start, len(text))
    return (start, min(start + 1, len(text)))
