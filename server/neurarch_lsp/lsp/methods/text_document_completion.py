"""``textDocument/completion``"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types

from neurarch_lsp.features import config_field_completion
from neurarch_lsp.features.completion import Item, complete
from neurarch_lsp.features.poll import Poll
from neurarch_lsp.lsp.encoded import Encoded, encoded
from neurarch_lsp.lsp.positions import Positions
from neurarch_lsp.lsp.python_texts import PythonTexts, python_texts
from neurarch_lsp.lsp.requests import in_steps, newest
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.lsp.snippets import plain_text
from neurarch_schemas.documents.document import FileKind
from neurarch_schemas.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed

KINDS = {
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.Value,
    "enum": types.CompletionItemKind.EnumMember,
    "skeleton": types.CompletionItemKind.Snippet,
}


async def handle(server: NeurarchServer, params: types.CompletionParams) -> Encoded | None:
    """A ``CompletionList``."""
    known = await newest(server, params.text_document)
    if known is None:
        return None
    analysed, positions = known
    offset = positions.offset(params.position)
    config = analysed.config_at(offset)
    if analysed.python is not None and config is None:
        return await in_steps(server, _fields, server, analysed, offset, positions, python_texts(server))
    if params.context is not None and params.context.trigger_character == ".":
        return None  # a number is typed
    document = analysed.parsed if config is None else config.document
    if document is None:
        return None
    number = next((at for at, found in enumerate(analysed.configs) if found is config), 0)
    about = {"uri": analysed.document.uri, "config": number}
    kind = None if config is None else config.kind
    return await in_steps(server, _list, server, document, offset, kind, positions, about)


def _fields(
    server: NeurarchServer, analysed: Analysed, offset: int, positions: Positions, texts: PythonTexts, poll: Poll
) -> Encoded | None:
    folder = os.path.dirname(analysed.document.path) if analysed.document.path else None
    beside = (texts.read(path) for path in texts.beside(folder) if path != analysed.document.path)
    items = config_field_completion.complete(analysed.document.text, offset, beside)
    return _encoded(server, items, positions, {}, poll) if items else None


def _list(
    server: NeurarchServer,
    document: JsonDocument,
    offset: int,
    kind: FileKind | None,
    positions: Positions,
    about: dict[str, object],
    poll: Poll,
) -> Encoded:
    return _encoded(server, complete(document, offset, kind), positions, about, poll)


def _encoded(
    server: NeurarchServer, items: list[Item], positions: Positions, about: dict[str, object], poll: Poll
) -> Encoded:
    converted = (_converted(server, item, number, positions, about) for number, item in enumerate(items))
    return Encoded(b'{"isIncomplete": false, "items": %b}' % encoded(converted, server.unstructured, poll))


def _converted(
    server: NeurarchServer, item: Item, number: int, positions: Positions, about: dict[str, object]
) -> types.CompletionItem:
    snippet = item.snippet and server.client.snippets
    comma = (
        [types.TextEdit(positions.range((item.comma_at, item.comma_at)), ",")] if item.comma_at is not None else None
    )
    return types.CompletionItem(
        label=item.label,
        kind=KINDS[item.kind],
        detail=item.detail or None,
        filter_text=item.filter,
        sort_text=f"{number:04}",
        preselect=True if item.preselect else None,
        tags=[types.CompletionItemTag.Deprecated] if item.deprecated and server.client.completion_tags else None,
        insert_text_format=types.InsertTextFormat.Snippet if snippet else types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AdjustIndentation if item.kind == "skeleton" else None,
        text_edit=types.TextEdit(
            positions.range(item.span), item.new_text if snippet or not item.snippet else plain_text(item.new_text)
        ),
        additional_text_edits=comma,
        data={**about, "pointer": item.pointer} if item.pointer is not None else None,
    )
