"""``textDocument/rename``: the key under the cursor, in this file."""

from __future__ import annotations

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from neurarch_lsp.lsp.navigation import key_at
from neurarch_lsp.lsp.requests import newest
from neurarch_lsp.lsp.server import NeurarchServer
from neurarch_lsp.lsp.workspace_edits import document_edit
from neurarch_schemas.documents.json_edits import rename_key
from neurarch_schemas.documents.pointer import join_pointer, parent_pointer


async def handle(server: NeurarchServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    known = await newest(server, params.text_document)
    if known is None:
        return None
    offset = known[1].offset(params.position)
    analysis = known[0].config_at(offset)
    pointer = key_at(analysis, offset) if analysis is not None else None
    if analysis is None or pointer is None:
        return None
    if not params.new_name:
        raise JsonRpcInvalidParams("a key cannot be empty")
    if analysis.document.spelling.python and not params.new_name.isidentifier():
        raise JsonRpcInvalidParams("no name for an argument")
    if analysis.document.key_span(join_pointer(parent_pointer(pointer), params.new_name)) is not None:
        raise JsonRpcInvalidParams(f"{params.new_name} is written here already")
    return document_edit(server, known[0].document, rename_key(analysis.document, pointer, params.new_name))
