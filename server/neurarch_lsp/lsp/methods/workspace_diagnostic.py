"""``workspace/diagnostic``: model files that are not open, streamed; held until something changes."""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.lsp.diagnostics import result_id
from neurarch_lsp.lsp.publisher import diagnostics_of
from neurarch_lsp.lsp.server import NeurarchServer

Item = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport
BATCH = 50


async def handle(server: NeurarchServer, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
    """A client asks again as soon as it is answered: while nothing has changed the answer is kept back.

    Files that had diagnostics and are gone (or open now, or no longer asked for) get an empty report.
    """
    previous = {item.uri: item.value for item in params.previous_result_ids}
    while True:
        items = await _collect(server, previous, params)
        if items:
            return types.WorkspaceDiagnosticReport(items)
        await server.scan.wait()


async def _collect(
    server: NeurarchServer, previous: dict[str, str], params: types.WorkspaceDiagnosticParams
) -> list[Item]:
    items: list[Item] = []
    seen: set[str] = set()
    async for analysed in server.scan.results(server):
        diagnostics = await diagnostics_of(server, analysed)
        identity, uri = result_id(diagnostics), analysed.document.uri
        seen.add(uri)
        if previous.get(uri) != identity and (diagnostics or uri in previous):
            items.append(types.WorkspaceFullDocumentDiagnosticReport(uri, diagnostics, result_id=identity))
        if params.partial_result_token is not None and len(items) >= BATCH:
            partial = types.WorkspaceDiagnosticReportPartialResult(items)
            server.progress(types.ProgressParams(params.partial_result_token, server.unstructured(partial)))
            items = []
    for uri in previous:
        if uri not in seen and server.documents.get(uri) is None and previous[uri] != EMPTY:
            items.append(types.WorkspaceFullDocumentDiagnosticReport(uri, [], result_id=EMPTY))
    return items


EMPTY = result_id([])
