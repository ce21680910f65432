"""Diagnostics: where they stand in every encoding, when they come, when they go."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from . import samples
from .clients import SECONDS, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")

AWKWARD = {
    "ascii": "x",
    "emoji": "🤖🧠",
    "cjk": "混合專家模型",
    "combining": "e\u0301\u0302",
    "form feed": "a\u000cb",
    "line separator": "a\u2028b\u2029c\u0085d\u000be",
}


RULE = "kv-heads-indivisible"


def wrong(before: str = "", newline: str = "\n") -> str:
    """A config whose KV heads (3333) do not divide its heads, behind awkward text on the same line and lines before."""
    config = samples.text(samples.LLAMA, num_key_value_heads=None)
    note = f'{{\n  "_note": "{before}", "_more": "{before}", "num_key_value_heads": 3333,'
    return config.replace("{", note, 1).replace("\n", newline)


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
async def test_range_is_the_key_in_every_encoding(session: Session, name: str, newline: str) -> None:
    document = session.document(wrong(AWKWARD[name], newline))
    found = [item for item in await document.diagnostics() if item.code == RULE]
    assert len(found) == 1
    assert document.slice(found[0].range) == "3333"
    document.close()


@pytest.mark.parametrize("name", AWKWARD)
async def test_edit_behind_awkward_text_lands_where_the_client_means_it(session: Session, name: str) -> None:
    document = session.document(wrong(AWKWARD[name]))
    document.substitute("3333", "2")
    assert not [item for item in await document.diagnostics() if item.code == RULE]
    document.substitute('heads": 2', f'heads": 3333, "_{AWKWARD[name]}": "{AWKWARD[name]}"')
    found = [item for item in await document.diagnostics() if item.code == RULE]
    assert [document.slice(item.range) for item in found] == ["3333"]
    document.close()


async def test_deleting_across_lines_and_appending_at_the_end(session: Session) -> None:
    document = session.document("\n\n" + wrong("🤖"))
    end = len(document.text)
    document.replace(end, end, "\n// the end\n")
    start = document.text.index('"_note"')
    document.replace(start, document.text.index('"num_key_value_heads"'), "")
    found = await document.diagnostics()
    assert [document.slice(item.range) for item in found if item.code == RULE] == ["3333"]
    assert any(item.code == "json-comment" for item in found)
    document.close()


async def test_every_version_is_published_even_when_parsing_fails(session: Session) -> None:
    if session.profile.pull:
        pytest.skip("a client that pulls gets nothing pushed")
    document = session.document(samples.text(samples.LLAMA))
    for broken in ("", "{", '{"model_type": ', "\x00", "[1, 2", "<html>"):
        document.overwrite(broken)
        published = await session.client.publication(document.uri, document.version)
        assert published.version == document.version
    document.overwrite(samples.text(samples.LLAMA))
    assert (await session.client.publication(document.uri, document.version)).diagnostics in ([], ())
    document.close()


async def test_never_pushed_to_a_client_that_pulls(session: Session) -> None:
    document = session.document(wrong())
    await document.diagnostics()
    pushed = [item for item in session.client.published if item.uri == document.uri]
    assert bool(pushed) is not session.profile.pull
    document.close()


async def test_closing_clears(session: Session) -> None:
    document = session.document(wrong())
    assert await document.diagnostics()
    document.close()
    if session.profile.pull:
        assert await document.diagnostics() == []
    else:
        assert (await session.client.publication(document.uri, None)).diagnostics in ([], ())


async def test_unchanged_when_pulled_again(session: Session) -> None:
    if not session.profile.pull:
        pytest.skip("this client gets diagnostics pushed")
    document = session.document(wrong())
    await document.diagnostics()
    params = types.DocumentDiagnosticParams(document.identifier, previous_result_id=document.result_id)
    again = await asyncio.wait_for(session.client.text_document_diagnostic_async(params), SECONDS)
    assert isinstance(again, types.RelatedUnchangedDocumentDiagnosticReport)
    document.substitute("3333", "2")
    changed = await asyncio.wait_for(session.client.text_document_diagnostic_async(params), SECONDS)
    assert isinstance(changed, types.RelatedFullDocumentDiagnosticReport)
    assert changed.result_id != document.result_id
    document.close()


async def test_what_the_client_cannot_show_is_in_the_message(session: Session) -> None:
    document = session.document(samples.text(samples.MOE))
    found = next(item for item in await document.diagnostics() if item.code == "moe-no-aux-loss")
    assert found.source == "neurarch"
    assert found.severity == types.DiagnosticSeverity.Information
    if session.profile.rich:
        assert found.related_information
        assert found.code_description is not None
        assert found.code_description.href.startswith("https://")
        assert document.slice(found.related_information[0].location.range)
    else:
        assert not found.related_information
        assert "output_router_logits" in found.message
    document.close()


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "app", "port": 8080}',
        '{"compilerOptions": {"strict": true}, "hiden_size": 3}',
        "[1, 2, 3]",
        '"model_type"',
    ],
)
async def test_a_config_json_of_another_tool_gets_nothing(session: Session, text: str) -> None:
    document = session.document(text)
    assert await document.diagnostics() == []
    document.close()


@pytest.mark.parametrize(
    "uri",
    [
        "file:///nowhere/with%20space/config.json",
        "file:///nowhere/mit%C3%A4t/%E6%A8%A1%E5%9E%8B/config.json",
        "file:///c%3A/models/config.json",
        "file:///C:/models/config.json",
        "untitled:Untitled-1",
    ],
)
async def test_the_clients_spelling_of_a_uri_comes_back(session: Session, uri: str) -> None:
    document = session.document(wrong(), uri)
    assert [item.code for item in await document.diagnostics() if item.code == RULE]
    if not session.profile.pull:
        assert {item.uri for item in session.client.published if item.uri.lower() == uri.lower()} == {uri}
    document.close()
