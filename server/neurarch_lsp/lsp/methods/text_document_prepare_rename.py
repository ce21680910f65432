"""``textDocument/prepareRename``: keys can be renamed; the new spelling is proposed where transformers changed it."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.renames import new_spelling
from neurarch_lsp.lsp.navigation import key_at
from neurarch_lsp.lsp.requests import newest
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_schemas.documents.pointer import split_pointer


async def handle(server: NeurarchServer, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    known = await newest(server, params.text_document)
    if known is None:
        return None
    positions = known[1]
    offset = positions.offset(params.position)
    analysis = known[0].config_at(offset)
    pointer = key_at(analysis, offset) if analysis is not None else None
    span = analysis.document.key_span(pointer) if analysis is not None and pointer is not None else None
    if analysis is None or pointer is None or span is None:
        return None
    quoted = analysis.document.text[span[0]] in "\"'"
    inner = (span[0] + 1, max(span[0] + 1, span[1] - 1)) if quoted else span
    return types.PrepareRenamePlaceholder(
        positions.range(inner), new_spelling(analysis, pointer) or split_pointer(pointer)[-1]
    )
