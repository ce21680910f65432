"""Definitions, references and highlights: between config keys, to files beside, to and from Python code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.features import config_fields, relations
from neurarch_lsp.features.links import links
from neurarch_lsp.lsp import uris
from neurarch_lsp.lsp.positions import Positions
from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.documents.line_index import LineIndex
from neurarch_schemas.documents.pointer import split_pointer

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.python_texts import PythonTexts
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import Span

_NOWHERE = types.Range(types.Position(0, 0), types.Position(0, 0))


def key_at(analysis: Analysis, offset: int) -> str | None:
    """The pointer of the key (or its value) at ``offset``."""
    place = analysis.document.pointer_at(offset)
    return place.pointer if place.part in ("key", "value") and place.pointer else None


def definitions(
    analysed: Analysed, offset: int, positions: Positions, texts: PythonTexts
) -> list[tuple[Span, types.Location]]:
    """Origin and target of what the place at ``offset`` leads to."""
    config, folder = analysed.config_at(offset), _folder(analysed)
    if analysed.analysis is not None:
        document = analysed.analysis.document
        for link in links(document, analysed.analysis.kind):
            if link.span[0] <= offset <= link.span[1] and link.file is not None and folder is not None:
                path = os.path.join(folder, link.file)
                if os.path.isfile(path):
                    place = _class_range(texts.read(path), link.symbol, positions)
                    return [(link.span, types.Location(uris.from_path(path), place))]
    pointer = key_at(config, offset) if config is not None else None
    if config is not None and pointer is not None:
        origin = config.document.key_span(pointer) or config.document.nearest_span(pointer)
        same = relations.same_setting(config, pointer)
        found = [(origin, _location(config, analysed.document.uri, other, positions)) for other in same]
        if not found and analysed.python is None:
            fields = _fields(texts, folder, split_pointer(pointer)[-1], positions)
            found = [(origin, location) for _, location in fields][:1]
        return found
    return _from_python(analysed, offset, positions, texts) if analysed.document.language == "python" else []


def references(
    analysed: Analysed, offset: int, positions: Positions, declaration: bool, texts: PythonTexts
) -> list[types.Location]:
    """The keys bound to the one at ``offset``, the fields of config classes it stands for, the code that uses it."""
    folder, uri = _folder(analysed), analysed.document.uri
    config = analysed.config_at(offset)
    pointer = key_at(config, offset) if config is not None else None
    if config is not None and pointer is not None:
        bound = [_location(config, uri, other, positions) for other in relations.related(config, pointer)]
        if analysed.python is not None:
            return bound if declaration else bound[1:]
        name = split_pointer(pointer)[-1]
        fields = _fields(texts, folder, name, positions)
        uses = _uses(texts, folder, name, {owner for owner, _ in fields}, positions)
        return [*(bound if declaration else bound[1:]), *(place for _, place in fields if declaration), *uses]
    if analysed.document.language != "python":
        return []
    field = _field_at(analysed, offset, texts)
    if field is None:
        return []
    owners, name = field
    fields = [found for found in _fields(texts, folder, name, positions, analysed) if found[0] in owners]
    uses = _uses(texts, folder, name, owners, positions, analysed)
    keys = _config_key(os.path.join(folder, "config.json") if folder else "", name, positions, texts)
    return _distinct([*(place for _, place in fields if declaration), *uses, *keys])


def highlights(analysis: Analysis, offset: int) -> list[tuple[Span, bool]]:
    """Key spans of the bound keys; True for the one under the cursor."""
    pointer = key_at(analysis, offset)
    pointers = relations.related(analysis, pointer) if pointer is not None else ()
    return [
        (analysis.document.key_span(other) or analysis.document.nearest_span(other), other == pointer)
        for other in pointers
    ]


def _from_python(
    analysed: Analysed, offset: int, positions: Positions, texts: PythonTexts
) -> list[tuple[Span, types.Location]]:
    """From ``config.hidden_size`` or ``Config(hidden_size=...)`` to the config class's field and the config.json."""
    text, folder = analysed.document.text, _folder(analysed)
    given, used = config_fields.given_at(text, offset), config_fields.used_at(text, offset)
    if given is not None:
        used = given[1], given[2]
    if used is None:
        return []
    name, origin = used
    fields = _fields(texts, folder, name, positions, analysed)
    wanted = {given[0]} if given is not None else config_fields.annotated(text, offset)
    chosen = [place for owner, place in fields if owner in wanted] or [place for _, place in fields]
    if given is not None:
        return [(origin, place) for owner, place in fields if owner == given[0]][:1]
    keys = _config_key(os.path.join(folder, "config.json") if folder else "", name, positions, texts)
    return [(origin, place) for place in (*chosen[:1], *keys)]


def _field_at(analysed: Analysed, offset: int, texts: PythonTexts) -> tuple[set[str], str] | None:
    """The classes and the name of the field that is defined, given or used at ``offset``."""
    text = analysed.document.text
    defined = config_fields.field_at(text, offset)
    if defined is not None:
        return {defined[0]}, defined[1]
    given = config_fields.given_at(text, offset)
    if given is not None:
        return {given[0]}, given[1]
    used = config_fields.used_at(text, offset)
    if used is None:
        return None
    found = {
        each.name
        for _, content in _sources(texts, _folder(analysed), analysed)
        for each in config_fields.config_classes(content)
        if each.defines(used[0])
    }
    nearest = found & config_fields.annotated(text, offset)
    return nearest or found, used[0]


def _sources(texts: PythonTexts, folder: str | None, analysed: Analysed | None = None) -> Iterator[tuple[str, str]]:
    """URI and text of the document itself and of the Python files beside."""
    own = analysed.document if analysed is not None else None
    if own is not None:
        yield own.uri, own.text
    for path in texts.beside(folder):
        if own is None or path != own.path:
            yield uris.from_path(path), texts.read(path)


def _fields(
    texts: PythonTexts, folder: str | None, name: str, positions: Positions, analysed: Analysed | None = None
) -> list[tuple[str, types.Location]]:
    """Owner and place of each definition of a field; of each class the first counts as the definition."""
    found = []
    for uri, text in _sources(texts, folder, analysed):
        if name not in text:
            continue
        lines = Positions(LineIndex(text), positions.encoding)
        for each in config_fields.config_classes(text):
            spans = [span for field, span in each.fields if field == name]
            found += [(each.name, types.Location(uri, lines.range(span))) for span in spans]
    return found


def _uses(
    texts: PythonTexts,
    folder: str | None,
    name: str,
    owners: set[str],
    positions: Positions,
    analysed: Analysed | None = None,
) -> list[types.Location]:
    """In the document, in the files beside, and in those of the workspace that name one of the classes."""
    sources = {
        uri: text
        for uri, text in _sources(texts, folder, analysed)
        if (analysed is not None and uri == analysed.document.uri)
        or uri.rpartition("/")[2].startswith(("modeling_", "configuration_"))
        or any(owner in text for owner in owners)
    }
    for path, text in texts.mentioning(tuple(sorted(owners))) if owners else ():
        sources.setdefault(uris.from_path(path), text)
    found: list[types.Location] = []
    for uri, text in sources.items():
        spans = config_fields.uses(text, name, owners)
        lines = Positions(LineIndex(text), positions.encoding) if spans else None
        found += [types.Location(uri, lines.range(span)) for span in spans if lines is not None]
    return found


def _config_key(path: str, name: str, positions: Positions, texts: PythonTexts) -> list[types.Location]:
    text = texts.read(path) if path else ""
    document = JsonDocument.parse(text, path)
    span = document.key_span("/" + name) if text else None
    if span is None:
        return []
    return [types.Location(uris.from_path(path), Positions(document.lines, positions.encoding).range(span))]


def _distinct(locations: list[types.Location]) -> list[types.Location]:
    seen = {(each.uri, each.range.start.line, each.range.start.character): each for each in locations}
    return list(seen.values())


def _location(analysis: Analysis, uri: str, pointer: str, positions: Positions) -> types.Location:
    document = analysis.document
    return types.Location(uri, positions.range(document.key_span(pointer) or document.nearest_span(pointer)))


def _class_range(text: str, symbol: str | None, positions: Positions) -> types.Range:
    match = re.search(rf"^class[ \t]+({re.escape(symbol)})\b", text, re.MULTILINE) if symbol else None
    return Positions(LineIndex(text), positions.encoding).range(match.span(1)) if match else _NOWHERE


def _folder(analysed: Analysed) -> str | None:
    return os.path.dirname(analysed.document.path) if analysed.document.path else None
