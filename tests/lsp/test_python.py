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


@pytest.mark.parametrize(
    "method", ["hover", "completion", "document_symbol", "inlay_hint", "code_lens", "folding_range"]
)
async def test_json_features_leave_python_alone(session: Session, method: str) -> None:
    document = session.document(MODEL, language="python", uri="file:///nowhere/python/alone.py")
    place = document.at("Net")
    params = {
        "hover": types.HoverParams(document.identifier, place),
        "completion": types.CompletionParams(document.identifier, place),
        "document_symbol": types.DocumentSymbolParams(document.identifier),
        "inlay_hint": types.InlayHintParams(document.identifier, document.range(0, len(MODEL))),
        "code_lens": types.CodeLensParams(document.identifier),
        "folding_range": types.FoldingRangeParams(document.identifier),
    }[method]
    call = getattr(session.client, f"text_document_{method}_async")
    assert not await asyncio.wait_for(call(params), SECONDS)
    document.close()
