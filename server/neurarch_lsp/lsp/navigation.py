"""Definitions, references and highlights: between config keys, to files beside, to and from Python code."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.features import relations
from neurarch_lsp.features.links import links
from neurarch_lsp.features.python_definitions import field_of
from neurarch_lsp.lsp import uris
from neurarch_lsp.lsp.positions import Positions
from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.documents.line_index import LineIndex
from neurarch_schemas.documents.pointer import split_pointer

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import Span

MAX_BYTES = 4_000_000
MAX_PYTHON_FILES = 20
_NOWHERE = types.Range(types.Position(0, 0), types.Position(0, 0))


def key_at(analysis: Analysis, offset: int) -> str | None:
    """The pointer of the key (or its value) at ``offset``."""
    place = analysis.document.pointer_at(offset)
    return place.pointer if place.part in ("key", "value") and place.pointer else None


def definitions(analysed: Analysed, offset: int, positions: Positions) -> list[tuple[Span, types.Location]]:
    """Origin and target of what the place at ``offset`` leads to."""
    if analysed.analysis is None:
        return _from_python(analysed, offset, positions) if analysed.document.language == "python" else []
    document, folder = analysed.analysis.document, _folder(analysed)
    for link in links(document, analysed.analysis.kind):
        if link.span[0] <= offset <= link.span[1] and link.file is not None and folder is not None:
            path = os.path.join(folder, link.file)
            if os.path.isfile(path):
                return [(link.span, types.Location(uris.from_path(path), _class_range(path, link.symbol, positions)))]
    pointer = key_at(analysed.analysis, offset)
    if pointer is None:
        return []
    origin = document.key_span(pointer) or document.nearest_span(pointer)
    return [
        (origin, _location(analysed, other, positions)) for other in relations.same_setting(analysed.analysis, pointer)
    ]


def references(analysed: Analysed, offset: int, positions: Positions, declaration: bool) -> list[types.Location]:
    """The keys bound to the one at ``offset`` and the places in Python files beside that read it."""
    analysis = analysed.analysis
    pointer = key_at(analysis, offset) if analysis is not None else None
    if analysis is None or pointer is None:
        return []
    found = [_location(analysed, other, positions) for other in relations.related(analysis, pointer)]
    if not declaration:
        found = found[1:]
    name = split_pointer(pointer)[-1]
    for path in _python_files(_folder(analysed)):
        text = _read(path)
        lines = Positions(LineIndex(text), positions.encoding)
        uri = uris.from_path(path)
        found += [types.Location(uri, lines.range(span)) for span in relations.uses_in_python(text, name)]
    return found


def highlights(analysis: Analysis, offset: int) -> list[tuple[Span, bool]]:
    """Key spans of the bound keys; True for the one under the cursor."""
    pointer = key_at(analysis, offset)
    pointers = relations.related(analysis, pointer) if pointer is not None else ()
    return [
        (analysis.document.key_span(other) or analysis.document.nearest_span(other), other == pointer)
        for other in pointers
    ]


def _from_python(analysed: Analysed, offset: int, positions: Positions) -> list[tuple[Span, types.Location]]:
    """From ``config.hidden_size`` in a model's code to the config class's field and to the config.json beside it."""
    used = relations.used_at(analysed.document.text, offset)
    if used is None:
        return []
    field = field_of(analysed.document.text, used[0], offset)
    found = [] if field is None else [(used[1], types.Location(analysed.document.uri, positions.range(field)))]
    folder = _folder(analysed)
    if field is None:
        found += _config_classes(folder, used, positions)
    path = os.path.join(folder, "config.json") if folder else ""
    return [*found, *_config_key(path, used, positions)] if os.path.isfile(path) else found


def _config_classes(
    folder: str | None, used: tuple[str, Span], positions: Positions
) -> list[tuple[Span, types.Location]]:
    """The field in a configuration_*.py beside."""
    for path in _python_files(folder):
        if os.path.basename(path).startswith("configuration_"):
            text = _read(path)
            field = field_of(text, used[0], len(text))
            if field is not None:
                target = Positions(LineIndex(text), positions.encoding).range(field)
                return [(used[1], types.Location(uris.from_path(path), target))]
    return []


def _config_key(path: str, used: tuple[str, Span], positions: Positions) -> list[tuple[Span, types.Location]]:
    document = JsonDocument.parse(_read(path), path)
    span = document.key_span("/" + used[0])
    if span is None:
        return []
    target = Positions(document.lines, positions.encoding).range(span)
    return [(used[1], types.Location(uris.from_path(path), target))]


def _location(analysed: Analysed, pointer: str, positions: Positions) -> types.Location:
    assert analysed.analysis is not None
    document = analysed.analysis.document
    return types.Location(
        analysed.document.uri, positions.range(document.key_span(pointer) or document.nearest_span(pointer))
    )


def _class_range(path: str, symbol: str | None, positions: Positions) -> types.Range:
    text = _read(path) if symbol else ""
    match = re.search(rf"^class[ \t]+({re.escape(symbol)})\b", text, re.MULTILINE) if symbol else None
    return Positions(LineIndex(text), positions.encoding).range(match.span(1)) if match else _NOWHERE


def _folder(analysed: Analysed) -> str | None:
    return os.path.dirname(analysed.document.path) if analysed.document.path else None


def _python_files(folder: str | None) -> list[str]:
    try:
        names = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return []
    wanted = [name for name in names if name.endswith(".py") and name.startswith(("modeling_", "configuration_"))]
    return [os.path.join(folder or "", name) for name in wanted[:MAX_PYTHON_FILES]]


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
