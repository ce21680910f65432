"""Python model code: connected, located behind emoji, silent about other code."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from .clients import SECONDS, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
"""


async def test_model_code_is_analysed_and_other_code_is_not(session: Session) -> None:
    model = session.document(MODEL, "file:///nowhere/python/net.py", language="python")
    other = session.document("def f():\n    return 1\n", "file:///nowhere/python/other.py", language="python")
    for document, analysed in ((model, True), (other, False)):
        await document.diagnostics()
        params = types.ExecuteCommandParams("neurarch.status", [document.uri])
        status = await asyncio.wait_for(session.client.workspace_execute_command_async(params), SECONDS)
        assert status is not None
        value = status["analysed"] if isinstance(status, dict) else status.analysed
        assert value is analysed
        document.close()


@pytest.mark.parametrize("method", ["completion", "inlay_hint", "folding_range"])
async def test_json_features_leave_python_alone(session: Session, method: str) -> None:
    document = session.document(MODEL, language="python", uri="file:///nowhere/python/alone.py")
    place = document.at("Net")
    params = {
        "completion": types.CompletionParams(document.identifier, place),
        "inlay_hint": types.InlayHintParams(document.identifier, document.range(0, len(MODEL))),
        "folding_range": types.FoldingRangeParams(document.identifier),
    }[method]
    call = getattr(session.client, f"text_document_{method}_async")
    assert not await asyncio.wait_for(call(params), SECONDS)
    document.close()


async def test_cells_of_a_notebook_come_change_and_go(session: Session) -> None:
    notebook = "file:///nowhere/python/train.ipynb"
    uris = [f"vscode-notebook-cell:/nowhere/python/train.ipynb#{number}" for number in range(2)]
    cells = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in uris]
    texts = [types.TextDocumentItem(uri, "python", 1, MODEL) for uri in uris]
    client = session.client
    client.notebook_document_did_open(
        types.DidOpenNotebookDocumentParams(types.NotebookDocument(notebook, "jupyter-notebook", 1, cells), texts)
    )

    async def analysed(uri: str) -> bool | None:
        params = types.ExecuteCommandParams("neurarch.status", [uri])
        status = await asyncio.wait_for(client.workspace_execute_command_async(params), SECONDS)
        if status is None:
            return None
        return status["analysed"] if isinstance(status, dict) else status.analysed

    assert [await analysed(uri) for uri in uris] == [True, True]
    gone = types.TextDocumentIdentifier(uris[1])
    edit = types.TextDocumentContentChangeWholeDocument("x = 1\n")
    change = types.NotebookDocumentChangeEvent(
        cells=types.NotebookDocumentCellChanges(
            structure=types.NotebookDocumentCellChangeStructure(types.NotebookCellArrayChange(1, 1), did_close=[gone]),
            text_content=[
                types.NotebookDocumentCellContentChanges(
                    types.VersionedTextDocumentIdentifier(version=2, uri=uris[0]), [edit]
                )
            ],
        )
    )
    identifier = types.VersionedNotebookDocumentIdentifier(2, notebook)
    client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, change))
    assert [await analysed(uri) for uri in uris] == [False, None]
    client.notebook_document_did_close(
        types.DidCloseNotebookDocumentParams(
            types.NotebookDocumentIdentifier(notebook), [types.TextDocumentIdentifier(uris[0])]
        )
    )
    assert await analysed(uris[0]) is None
