"""``textDocument/diagnostic``: diagnostics for a client that pulls them."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.diagnostics import result_id
from neurarch_lsp.lsp.publisher import diagnostics_of
from neurarch_lsp.lsp.server import NeurarchServer


async def handle(
    server: NeurarchServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    document = server.documents.get(params.text_document.uri)
    analysed = await server.scheduler.newest(document.key) if document else None
    items = await diagnostics_of(server, analysed) if analysed else []
    identity = result_id(items)
    if identity == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(identity)
    return types.RelatedFullDocumentDiagnosticReport(items, result_id=identity)
