"""The open documents, each an immutable snapshot; a change makes a new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lsprotocol import types

from neurarch_lsp.lsp import uris
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.line_index import LineIndex, PositionEncoding

MAX_STEPS = 64
"""Edits remembered for a parser that is behind; after more it reads the text afresh."""

ContentChange = types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument


@dataclass(frozen=True, slots=True)
class Step:
    """One edit, in coordinates of the text before it; ``version`` is the document's after it."""

    version: int
    edit: TextEdit


@dataclass(frozen=True, slots=True)
class History:
    """``steps`` lead from the text of version ``start`` to the present one."""

    start: int
    steps: tuple[Step, ...] = ()

    def since(self, version: int | None) -> tuple[Step, ...] | None:
        """The steps from a version to now; None when they are not all remembered."""
        if version is None or version < self.start:
            return None
        return tuple(step for step in self.steps if step.version > version)


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """``uri`` is the client's own spelling, ``path`` None for a buffer without a file, ``notebook`` the URI of the
    notebook a cell belongs to."""

    uri: str
    language: str
    version: int
    text: str
    lines: LineIndex
    path: str | None
    history: History
    notebook: str | None = None

    @property
    def key(self) -> str:
        return uris.key(self.uri)


class OpenDocuments:
    """Looked up by URI; spellings of one URI that differ in escapes or the case of a drive letter are the same."""

    def __init__(self, encoding: PositionEncoding) -> None:
        self.encoding: PositionEncoding = encoding
        self._documents: dict[str, OpenDocument] = {}

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(tuple(self._documents.values()))

    def __len__(self) -> int:
        return len(self._documents)

    def get(self, uri: str) -> OpenDocument | None:
        return self._documents.get(uris.key(uri))

    def open(self, item: types.TextDocumentItem, notebook: str | None = None) -> OpenDocument:
        document = OpenDocument(
            uri=item.uri,
            language=str(getattr(item.language_id, "value", item.language_id)),
            version=item.version,
            text=item.text,
            lines=LineIndex(item.text),
            path=uris.to_path(item.uri),
            history=History(item.version),
            notebook=notebook,
        )
        self._documents[document.key] = document
        return document

    def change(self, uri: str, version: int, changes: Iterable[ContentChange]) -> OpenDocument | None:
        """Apply content changes in order; None when the document is not open."""
        before = self.get(uri)
        if before is None:
            return None
        text, lines, history = before.text, before.lines, before.history
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start = lines.encoded_offset(change.range.start.line, change.range.start.character, self.encoding)
                end = lines.encoded_offset(change.range.end.line, change.range.end.character, self.encoding)
                edit = TextEdit((start, max(start, end)), change.text)
                history = _grown(history, Step(version, edit))
                text = text[:start] + change.text + text[max(start, end) :]
            else:
                history = History(version)
                text = change.text
            lines = LineIndex(text)
        document = replace(before, version=version, text=text, lines=lines, history=history)
        self._documents[document.key] = document
        return document

    def close(self, uri: str) -> OpenDocument | None:
        return self._documents.pop(uris.key(uri), None)


def _grown(history: History, step: Step) -> History:
    steps = (*history.steps, step)
    if len(steps) > MAX_STEPS:
        return History(steps[-MAX_STEPS - 1].version, steps[-MAX_STEPS:])
    return History(history.start, steps)
