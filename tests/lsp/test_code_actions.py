"""Quick fixes applied as an editor applies them: the finding goes, the rest of the text stays."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from . import samples
from .clients import SECONDS, Document, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def actions(
    session: Session, document: Document, range_: types.Range, only: list[str] | None = None
) -> list[types.CodeAction]:
    diagnostics = [item for item in await document.diagnostics() if item.range == range_]
    context = types.CodeActionContext(diagnostics, only=only)  # type: ignore[arg-type]  # custom kinds are plain strings
    params = types.CodeActionParams(document.identifier, range_, context)
    found = await asyncio.wait_for(session.client.text_document_code_action_async(params), SECONDS)
    return [action for action in found or [] if isinstance(action, types.CodeAction)]


async def resolved(session: Session, action: types.CodeAction) -> types.CodeAction:
    if action.edit is not None or action.data is None:
        return action
    return await asyncio.wait_for(session.client.code_action_resolve_async(action), SECONDS)


def whole(document: Document) -> types.Range:
    return document.range(0, len(document.text))


async def finding(document: Document, rule: str) -> types.Diagnostic:
    return next(item for item in await document.diagnostics() if item.code == rule)


BROKEN = (
    '{\r\n  "_": "🤖混",\r\n  "model_type": "llama",\r\n  "hidden_size": 64, // wide\r\n  "hidden_size": 64,\r\n}\r\n'
)


async def test_a_quick_fix_makes_its_finding_go_and_keeps_the_rest(session: Session) -> None:
    document = session.document(BROKEN)
    comment = await finding(document, "json-comment")
    offered = [action for action in await actions(session, document, comment.range, ["quickfix"]) if action.edit]
    assert offered
    assert offered[0].is_preferred
    assert offered[0].diagnostics
    before = document.text
    document.apply(offered[0].edit)  # type: ignore[arg-type]  # checked above
    assert "json-comment" not in {item.code for item in await document.diagnostics()}
    assert document.text.startswith(before[: before.index(", // wide")])
    assert document.text.endswith(before[before.index('\r\n  "hidden_size": 64,\r\n}') :])
    document.close()


async def test_fix_all_leaves_no_safe_fix_and_sound_json(session: Session) -> None:
    document = session.document(BROKEN)
    (action,) = await actions(session, document, whole(document), ["source.fixAll"])
    assert action.kind == "source.fixAll.neurarch"
    action = await resolved(session, action)
    assert action.edit is not None
    document.apply(action.edit)
    assert not [item for item in await document.diagnostics() if str(item.code).startswith("json-")]
    assert await actions(session, document, whole(document), ["source.fixAll.neurarch"]) == []
    assert "\r\n" in document.text
    document.close()


async def test_source_actions_are_not_offered_under_the_light_bulb(session: Session) -> None:
    document = session.document(BROKEN)
    kinds = {str(action.kind) for action in await actions(session, document, whole(document))}
    assert kinds == {"CodeActionKind.QuickFix"} or kinds == {"quickfix"}
    assert await actions(session, document, whole(document), ["refactor"]) == []
    document.close()


async def test_only_safe_fixes_are_preferred(session: Session) -> None:
    document = session.document(samples.text(samples.MOE))
    found = await finding(document, "moe-no-aux-loss")
    offered = [action for action in await actions(session, document, found.range) if action.edit]
    assert offered
    assert not any(action.is_preferred for action in offered if "may change" in action.title)
    document.close()


async def test_an_edit_names_the_version_it_is_for(session: Session) -> None:
    document = session.document(BROKEN)
    document.replace(0, 0, " ")
    comment = await finding(document, "json-comment")
    edit = next(action.edit for action in await actions(session, document, comment.range) if action.edit)
    if session.profile.rich:
        assert edit.document_changes
        change = edit.document_changes[0]
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == 2
    else:
        assert edit.changes
    document.close()


async def test_explain_is_offered(session: Session) -> None:
    document = session.document(samples.text(samples.MOE))
    found = await finding(document, "moe-no-aux-loss")
    params = types.CodeActionParams(document.identifier, found.range, types.CodeActionContext([]))
    offered = await asyncio.wait_for(session.client.text_document_code_action_async(params), SECONDS)
    assert "Explain moe-no-aux-loss" in {action.title for action in offered or ()}
    command = types.ExecuteCommandParams("neurarch.explainRule", ["moe-no-aux-loss"])
    page = await asyncio.wait_for(session.client.workspace_execute_command_async(command), SECONDS)
    assert str(page).startswith("# ")
    document.close()
