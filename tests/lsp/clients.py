"""Clients that drive the real server process, and documents as such a client sees them."""

from __future__ import annotations

import asyncio
import itertools
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, default_converter

SERVER = [sys.executable, "-X", "utf8", "-m", "neurarch_lsp"]
SECONDS = 15.0


@dataclass(frozen=True)
class Profile:
    """What a client can do; the three that tests run with differ in encoding, diagnostics and resolve support."""

    encoding: str
    pull: bool
    rich: bool = True
    name: str = "test client"
    configuration: bool = False

    def capabilities(self) -> types.ClientCapabilities:
        return get_converter().structure(self._plain(), types.ClientCapabilities)

    def _plain(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "synchronization": {"didSave": True},
            "publishDiagnostics": {
                "relatedInformation": self.rich,
                "versionSupport": True,
                "codeDescriptionSupport": self.rich,
                "dataSupport": self.rich,
                "tagSupport": {"valueSet": [1, 2] if self.rich else []},
            },
            "hover": {"contentFormat": ["markdown", "plaintext"] if self.rich else ["plaintext"]},
            "completion": {
                "completionItem": {
                    "snippetSupport": self.rich,
                    "documentationFormat": ["markdown"] if self.rich else ["plaintext"],
                    "labelDetailsSupport": self.rich,
                    "resolveSupport": {"properties": ["documentation", "detail"] if self.rich else []},
                }
            },
            "codeAction": {
                "isPreferredSupport": True,
                "dataSupport": self.rich,
                "resolveSupport": {"properties": ["edit"] if self.rich else []},
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source", "refactor"]}},
            },
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": self.rich},
            "foldingRange": {"lineFoldingOnly": self.rich},
            "definition": {"linkSupport": self.rich},
            "inlayHint": {"resolveSupport": {"properties": ["tooltip"] if self.rich else []}},
            "rename": {"prepareSupport": True},
        }
        if self.pull:
            document["diagnostic"] = {
                "relatedDocumentSupport": True,
                "relatedInformation": self.rich,
                "codeDescriptionSupport": self.rich,
                "dataSupport": self.rich,
                "tagSupport": {"valueSet": [1, 2]},
            }
        return {
            "general": {"positionEncodings": [self.encoding]},
            "textDocument": document,
            "workspace": {
                "applyEdit": True,
                "workspaceEdit": {"documentChanges": self.rich},
                "configuration": self.configuration,
                "workspaceFolders": True,
                "diagnostics": {"refreshSupport": self.pull},
                "inlayHint": {"refreshSupport": self.rich},
                "codeLens": {"refreshSupport": self.rich},
            },
            "window": {"workDoneProgress": self.rich, "showDocument": {"support": False}},
        }


PROFILES = (
    Profile("utf-8", pull=True),
    Profile("utf-16", pull=False),
    Profile("utf-32", pull=True, rich=False),
)


class Client(LanguageClient):
    """Remembers what was published, with versions, in order."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.news = asyncio.Event()
        self.refreshes = 0
        self.registrations: list[types.Registration] = []
        self.applied: list[types.ApplyWorkspaceEditParams] = []

    async def publication(self, uri: str, version: int | None) -> types.PublishDiagnosticsParams:
        """Wait until diagnostics for this version have been published."""
        async with asyncio.timeout(SECONDS):
            while True:
                for item in self.published:
                    if item.uri == uri and item.version == version:
                        return item
                self.news.clear()
                await self.news.wait()


def make_client() -> Client:
    client = Client(converter_factory=default_converter)
    features = dict(DEFAULT_CLIENT_FEATURES)

    def publish(ls: Client, params: types.PublishDiagnosticsParams) -> None:
        ls.published.append(params)
        ls.news.set()

    def refresh(ls: Client, _params: object) -> None:
        ls.refreshes += 1
        ls.news.set()

    def register(ls: Client, params: types.RegistrationParams) -> None:
        ls.registrations += params.registrations

    def apply(ls: Client, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        ls.applied.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = publish
    features[types.WORKSPACE_DIAGNOSTIC_REFRESH] = refresh
    features[types.WORKSPACE_INLAY_HINT_REFRESH] = refresh
    features[types.WORKSPACE_CODE_LENS_REFRESH] = refresh
    features[types.CLIENT_REGISTER_CAPABILITY] = register
    features[types.WORKSPACE_APPLY_EDIT] = apply
    for method, function in features.items():
        client.feature(method)(function)
    return client


async def start(profile: Profile, root: Path | None = None, options: Any = None) -> Client:
    """A client connected to a server process of its own."""
    client = make_client()
    await client.start_io(*SERVER)
    await client.initialize_session(
        types.InitializeParams(
            capabilities=profile.capabilities(),
            client_info=types.ClientInfo(profile.name, "1"),
            root_uri=root.as_uri() if root else None,
            workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name)] if root else None,
            initialization_options=options,
        )
    )
    return client


def units(text: str, encoding: str) -> int:
    """Length of a text in units of a position encoding; written apart from the server's own conversion."""
    codec, width = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    return len(text.encode(codec, "surrogatepass")) // width


def split_lines(text: str) -> list[str]:
    """Lines with their breaks; a break is \\n, \\r\\n or \\r and nothing else."""
    lines, start, at = [], 0, 0
    while at < len(text):
        if text[at] == "\n" or (text[at] == "\r" and text[at + 1 : at + 2] != "\n"):
            lines.append(text[start : at + 1])
            start = at + 1
        at += 1
    return [*lines, text[start:]]


_names = itertools.count()


@dataclass
class Document:
    """An open document: the client's text, its edits and the positions in the session's encoding."""

    client: Client
    encoding: str
    uri: str
    text: str
    version: int = 1
    pull: bool = False
    language: str = "json"
    result_id: str | None = None
    closed: bool = field(default=False)

    def open(self) -> Document:
        item = types.TextDocumentItem(self.uri, self.language, self.version, self.text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return self

    @property
    def identifier(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)

    def position(self, offset: int) -> types.Position:
        before = split_lines(self.text[:offset])
        if self.text[offset - 1 : offset + 1] == "\r\n" and offset:
            before = split_lines(self.text[: offset - 1])
        return types.Position(len(before) - 1, units(before[-1], self.encoding))

    def offset(self, position: types.Position) -> int:
        lines = split_lines(self.text)
        start = sum(len(line) for line in lines[: position.line])
        line = lines[position.line] if position.line < len(lines) else ""
        return start + next(
            (at for at in range(len(line) + 1) if units(line[:at], self.encoding) >= position.character), len(line)
        )

    def slice(self, range_: types.Range) -> str:
        return self.text[self.offset(range_.start) : self.offset(range_.end)]

    def at(self, needle: str, within: int = 1) -> types.Position:
        """The position ``within`` code points into the first occurrence of ``needle``."""
        return self.position(self.text.index(needle) + within)

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def replace(self, start: int, end: int, new: str) -> None:
        """Edit as an editor does: tell the range, then change one's own text."""
        change = types.TextDocumentContentChangePartial(range=self.range(start, end), text=new)
        self.text = self.text[:start] + new + self.text[end:]
        self._changed([change])

    def substitute(self, old: str, new: str) -> None:
        start = self.text.index(old)
        self.replace(start, start + len(old), new)

    def overwrite(self, text: str) -> None:
        self.text = text
        self._changed([types.TextDocumentContentChangeWholeDocument(text)])

    def _changed(self, changes: list[Any]) -> None:
        self.version += 1
        identifier = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))

    async def diagnostics(self) -> list[types.Diagnostic]:
        """The diagnostics of the present version, pulled or waited for as the session has it."""
        if not self.pull:
            return list((await self.client.publication(self.uri, self.version)).diagnostics)
        async with asyncio.timeout(SECONDS):
            report = await self.client.text_document_diagnostic_async(types.DocumentDiagnosticParams(self.identifier))
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        self.result_id = report.result_id
        return list(report.items)

    def close(self) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.identifier))
        self.closed = True

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Make the edits of a workspace edit that concern this document."""
        edits: list[Any] = []
        if edit.document_changes:
            for change in edit.document_changes:
                assert isinstance(change, types.TextDocumentEdit)
                assert change.text_document.uri == self.uri
                assert change.text_document.version == self.version
                edits += change.edits
        else:
            edits += (edit.changes or {})[self.uri]
        spans = sorted(
            ((self.offset(item.range.start), self.offset(item.range.end), item.new_text) for item in edits),
            reverse=True,
        )
        for start, end, new in spans:
            self.replace(start, end, new)


@dataclass
class Session:
    client: Client
    profile: Profile

    def document(self, text: str, uri: str | None = None, language: str = "json") -> Document:
        """Open a text under a URI of its own (a file that does not exist, so that nothing lies beside it)."""
        uri = uri or f"file:///nowhere/model-{next(_names)}/config.json"
        document = Document(self.client, self.profile.encoding, uri, text, pull=self.profile.pull, language=language)
        return document.open()
