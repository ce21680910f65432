"""docs/features.md agrees with what the running server announces."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from lsprotocol import types

from . import wire
from .clients import PROFILES

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "features.md"

CAPABILITIES = {
    "textDocument/completion": "completionProvider",
    "textDocument/hover": "hoverProvider",
    "textDocument/definition": "definitionProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/documentHighlight": "documentHighlightProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "textDocument/codeAction": "codeActionProvider",
    "textDocument/codeLens": "codeLensProvider",
    "textDocument/documentLink": "documentLinkProvider",
    "textDocument/formatting": "documentFormattingProvider",
    "textDocument/rename": "renameProvider",
    "textDocument/foldingRange": "foldingRangeProvider",
    "textDocument/selectionRange": "selectionRangeProvider",
    "textDocument/inlayHint": "inlayHintProvider",
    "textDocument/diagnostic": "diagnosticProvider",
    "textDocument/semanticTokens/full": "semanticTokensProvider",
    "textDocument/signatureHelp": "signatureHelpProvider",
    "textDocument/documentColor": "colorProvider",
    "workspace/executeCommand": "executeCommandProvider",
}


def rows() -> dict[str, bool]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return {
        method: answer == "yes" for method, answer in re.findall(r"^\| `([^`]+)` \| (yes|no) \|", text, re.MULTILINE)
    }


def test_the_page_is_up_to_date() -> None:
    specification = importlib.util.spec_from_file_location("features", ROOT / "tools" / "features.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert module.render() == DOCUMENT.read_text(encoding="utf-8"), "run tools/features.py"


@pytest.mark.asyncio
async def test_the_page_says_what_the_server_announces() -> None:
    server = await wire.Wire.start()
    answer = await server.initialize(capabilities=PROFILES[0]._plain())
    announced = answer["result"]["capabilities"]
    for method, yes in rows().items():
        if method in CAPABILITIES:
            assert bool(announced.get(CAPABILITIES[method])) is yes, method
    resolvable = {
        "completionItem/resolve": "completionProvider",
        "codeAction/resolve": "codeActionProvider",
        "inlayHint/resolve": "inlayHintProvider",
    }
    for method, provider in resolvable.items():
        assert announced[provider]["resolveProvider"] is rows()[method], method
    assert announced["renameProvider"]["prepareProvider"] is rows()["textDocument/prepareRename"]
    assert announced["diagnosticProvider"]["workspaceDiagnostics"] is rows()["workspace/diagnostic"]
    assert announced["diagnosticProvider"]["interFileDependencies"] is True
    documented = re.findall(r"^\| `(neurarch\.\w+)`", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(announced["executeCommandProvider"]["commands"]) == sorted(documented)
    assert announced["positionEncoding"] == types.PositionEncodingKind.Utf8.value
    assert await server.end() == 0
