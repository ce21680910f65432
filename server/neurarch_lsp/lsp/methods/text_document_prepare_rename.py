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
    if known is None or known[0].analysis is None:
        return None
    analysis, positions = known[0].analysis, known[1]
    pointer = key_at(analysis, positions.offset(params.position))
    span = analysis.document.key_span(pointer) if pointer is not None else None
    if pointer is None or span is None:
        return None
    inner = (span[0] + 1, max(span[0] + 1, span[1] - 1))
    return types.PrepareRenamePlaceholder(
        positions.range(inner), new_spelling(analysis, pointer) or split_pointer(pointer)[-1]
    )
