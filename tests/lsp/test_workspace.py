"""Settings from every source, files that change on disk, whole workspaces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types

from . import samples
from .clients import SECONDS, Client, Document, Profile, start

pytestmark = pytest.mark.asyncio

RULE = "kv-heads-indivisible"
WRONG = samples.text(samples.LLAMA, num_key_value_heads=3)

Begin = Callable[..., Awaitable[Client]]


@pytest_asyncio.fixture
async def begin(tmp_path: Path) -> AsyncIterator[Begin]:
    clients: list[Client] = []

    async def make(pull: bool = False, options: Any = None, **features: Any) -> Client:
        client = await start(Profile("utf-16", pull, **features), tmp_path, options)
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.shutdown_session()
        await client.stop()


def opened(client: Client, path: Path, text: str, pull: bool = False) -> Document:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return Document(client, "utf-16", path.as_uri(), text, pull=pull).open()


def rules(diagnostics: list[types.Diagnostic]) -> dict[str, types.DiagnosticSeverity]:
    return {str(item.code): item.severity for item in diagnostics if item.severity is not None}


async def again(client: Client, document: Document, condition: Callable[[list[types.Diagnostic]], bool]) -> None:
    """Wait until the newest publication for a document meets a condition."""
    async with asyncio.timeout(SECONDS):
        while True:
            found = [item for item in client.published if item.uri == document.uri]
            if found and condition(list(found[-1].diagnostics)):
                return
            client.news.clear()
            await client.news.wait()


@pytest.mark.parametrize(
    "options",
    [
        {"severity": {RULE: "hint"}},
        {"settings": {"severity": {RULE: "hint"}}},
        {"neurarch": {"severity": {RULE: "hint"}}},
    ],
)
async def test_initialization_options(begin: Begin, tmp_path: Path, options: Any) -> None:
    client = await begin(options=options)
    document = opened(client, tmp_path / "config.json", WRONG)
    assert rules(await document.diagnostics())[RULE] == types.DiagnosticSeverity.Hint


async def test_wrong_editor_settings_are_left_out_and_the_rest_holds(begin: Begin, tmp_path: Path) -> None:
    client = await begin(options={"serving": {"context": "many"}, "severity": {RULE: "hint"}, "syntaxErrors": 3})
    document = opened(client, tmp_path / "config.json", WRONG)
    assert rules(await document.diagnostics())[RULE] == types.DiagnosticSeverity.Hint


async def test_nearest_settings_file_below_the_editors_settings(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "neurarch-lsp.toml").write_text(f'[severity]\n{RULE} = "warning"\n')
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "pyproject.toml").write_text(f'[tool.neurarch-lsp.severity]\n{RULE} = "info"\n')
    client = await begin()
    outer = opened(client, tmp_path / "config.json", WRONG)
    inner = opened(client, tmp_path / "inner" / "config.json", WRONG)
    assert rules(await outer.diagnostics())[RULE] == types.DiagnosticSeverity.Warning
    assert rules(await inner.diagnostics())[RULE] == types.DiagnosticSeverity.Information
    change = {"neurarch": {"severity": {RULE: "off"}}}
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(change))
    for document in (outer, inner):
        await again(client, document, lambda found: RULE not in rules(found))


async def test_configuration_is_asked_for_by_folder(begin: Begin, tmp_path: Path) -> None:
    client = await begin(configuration=True)
    client.set_configuration({"neurarch": {"severity": {RULE: "hint"}}})
    client.set_configuration({"neurarch": {"severity": {RULE: "info"}}}, scope_uri=tmp_path.as_uri())
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
    inside = opened(client, tmp_path / "config.json", WRONG)
    outside = Document(client, "utf-16", "file:///nowhere/out/config.json", WRONG).open()
    await again(client, inside, lambda found: rules(found).get(RULE) == types.DiagnosticSeverity.Information)
    await again(client, outside, lambda found: rules(found).get(RULE) == types.DiagnosticSeverity.Hint)


async def test_a_settings_file_that_changes_on_disk(begin: Begin, tmp_path: Path) -> None:
    client = await begin()
    document = opened(client, tmp_path / "config.json", WRONG)
    assert RULE in rules(await document.diagnostics())
    settings = tmp_path / "neurarch-lsp.toml"
    settings.write_text(f'ignore = ["{RULE}"]\n')
    event = types.FileEvent(settings.as_uri(), types.FileChangeType.Created)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await again(client, document, lambda found: RULE not in rules(found))


async def test_pulling_clients_are_told_to_pull_again(begin: Begin, tmp_path: Path) -> None:
    client = await begin(pull=True)
    document = opened(client, tmp_path / "config.json", WRONG, pull=True)
    assert RULE in rules(await document.diagnostics())
    settings = tmp_path / "neurarch-lsp.toml"
    settings.write_text(f'ignore = ["{RULE}"]\n')
    event = types.FileEvent(settings.as_uri(), types.FileChangeType.Created)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    async with asyncio.timeout(SECONDS):
        while not client.refreshes:
            client.news.clear()
            await client.news.wait()
    assert RULE not in rules(await document.diagnostics())


async def test_a_broken_settings_file_is_told_in_the_file_itself(begin: Begin, tmp_path: Path) -> None:
    client = await begin()
    text = 'ignore = ["no-such-rule"]\n'
    path = tmp_path / "neurarch-lsp.toml"
    path.write_text(text)
    document = Document(client, "utf-16", path.as_uri(), text, language="toml").open()
    (problem,) = await document.diagnostics()
    assert document.slice(problem.range) == "no-such-rule"
    document.overwrite("[serving]\ncontext = 0\nkv-cache-gb = 8\nunknwon = 1\n")
    found = {document.slice(item.range): item.message for item in await document.diagnostics()}
    assert found.keys() == {"context", "unknwon"}
    document.overwrite("[serving\n")
    (problem,) = await document.diagnostics()
    assert "TOML" in problem.message
    document.overwrite("[serving]\ncontext = 4096\n")
    assert await document.diagnostics() == []


async def test_a_broken_settings_file_is_told_once_and_counts_as_absent(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "neurarch-lsp.toml").write_text('severity = "loud"\n')
    client = await begin()
    document = opened(client, tmp_path / "config.json", WRONG)
    assert RULE in rules(await document.diagnostics())
    document.replace(0, 0, " ")
    assert RULE in rules(await document.diagnostics())
    assert [("neurarch-lsp.toml" in item.message) for item in client.messages] == [True]


async def test_syntax_errors_are_left_to_an_editor_that_reports_them(begin: Begin, tmp_path: Path) -> None:
    broken = WRONG.replace('"hidden_size": 256,', '"hidden_size": 256, // wide\n')
    client = await begin(name="Visual Studio Code")
    document = opened(client, tmp_path / "config.json", broken)
    assert rules(await document.diagnostics()).keys() == {RULE}
    context = types.CodeActionContext([])
    start_ = document.at("// wide", 0)
    params = types.CodeActionParams(document.identifier, types.Range(start_, start_), context)
    actions = await asyncio.wait_for(client.text_document_code_action_async(params), SECONDS)
    assert any("comment" in action.title.lower() for action in actions or ()), "its fix is offered all the same"
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"neurarch": {"syntaxErrors": "on"}}))
    await again(client, document, lambda found: {RULE, "json-comment"} <= rules(found).keys())


async def test_suppressing_writes_the_settings_file(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "neurarch-lsp.toml").write_text("[serving]\ncontext = 4096\n")
    client = await begin()
    document = opened(client, tmp_path / "models" / "tiny" / "config.json", WRONG)
    found = next(item for item in await document.diagnostics() if item.code == RULE)
    params = types.CodeActionParams(document.identifier, found.range, types.CodeActionContext([found]))
    offered = await asyncio.wait_for(client.text_document_code_action_async(params), SECONDS)
    action = next(item for item in offered or () if item.title.startswith(f"Ignore {RULE}"))
    assert isinstance(action, types.CodeAction)
    action = await asyncio.wait_for(client.code_action_resolve_async(action), SECONDS)
    assert action.edit is not None
    assert action.edit.document_changes
    change = action.edit.document_changes[0]
    assert isinstance(change, types.TextDocumentEdit)
    settings = tmp_path / "neurarch-lsp.toml"
    assert change.text_document.uri == settings.as_uri()
    edited = Document(client, "utf-16", settings.as_uri(), settings.read_text(), language="toml")
    for edit in change.edits:
        assert isinstance(edit, types.TextEdit)
        start_, end = edited.offset(edit.range.start), edited.offset(edit.range.end)
        settings.write_text(edited.text[:start_] + edit.new_text + edited.text[end:])
    event = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await again(client, document, lambda items: RULE not in rules(items))


async def test_the_whole_workspace_is_pushed_when_asked_for(begin: Begin, tmp_path: Path) -> None:
    for name in ("a", "b c", "ü"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(WRONG)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "config.json").write_text('{"name": "app"}')
    client = await begin(options={"diagnosticMode": "workspace"})
    wanted = {(tmp_path / name / "config.json").as_uri() for name in ("a", "b c", "ü")}
    for uri in wanted:
        found = await client.publication(uri, None)
        assert RULE in rules(list(found.diagnostics))
    assert {item.uri for item in client.published} == wanted


async def test_the_whole_workspace_is_pulled_and_held_until_something_changes(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / "config.json"
    path.write_text(WRONG)
    client = await begin(pull=True, options={"diagnosticMode": "workspace"})
    first = await asyncio.wait_for(
        client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=[])), SECONDS
    )
    (report,) = first.items
    assert isinstance(report, types.WorkspaceFullDocumentDiagnosticReport)
    assert RULE in rules(list(report.items))
    assert report.result_id is not None
    known = [types.PreviousResultId(report.uri, report.result_id)]
    held = asyncio.ensure_future(
        client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=known))
    )
    done, _ = await asyncio.wait([held], timeout=0.3)
    assert not done
    path.write_text(samples.text(samples.LLAMA))
    event = types.FileEvent(path.as_uri(), types.FileChangeType.Changed)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    (report,) = (await asyncio.wait_for(held, SECONDS)).items
    assert isinstance(report, types.WorkspaceFullDocumentDiagnosticReport)
    assert RULE not in rules(list(report.items))


async def test_debug_information_says_why(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "neurarch-lsp.toml").write_text("[serving]\ncontext = 4096\n")
    client = await begin(options={"ignore": ["remote-code"]})
    document = opened(client, tmp_path / "config.json", WRONG)
    await document.diagnostics()
    params = types.ExecuteCommandParams("neurarch.debugInformation", [document.uri])
    text = str(await asyncio.wait_for(client.workspace_execute_command_async(params), SECONDS))
    for part in (
        "a config file",
        "`llama`",
        "neurarch-lsp.toml",
        "(editor)",
        "(settings file)",
        "utf-16",
        "lsprotocol",
    ):
        assert part in text, part
    foreign = opened(client, tmp_path / "app" / "config.json", '{"name": "app"}')
    params = types.ExecuteCommandParams("neurarch.debugInformation", [foreign.uri])
    text = str(await asyncio.wait_for(client.workspace_execute_command_async(params), SECONDS))
    assert "not that of a model file" in text
