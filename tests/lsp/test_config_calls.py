"""Configs that Python code constructs, in the editor: each case of config_calls.md in each position encoding."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from lsprotocol import types

from .clients import SECONDS, Document, Session
from .test_completion import accept

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGE = Path(__file__).with_name("config_calls.md")
_CASE = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Case:
    """``ask`` is what is asked at the mark ``¦`` of ``text``, ``expected`` the lines of the answer."""

    name: str
    text: str
    ask: str
    expected: str


def cases() -> list[Case]:
    """Every block behind the first of a section asks one thing about the text of the first."""
    found: list[Case] = []
    for name, body in _CASE.findall(PAGE.read_text(encoding="utf-8")):
        (_, text), *asked = _BLOCK.findall(body)
        found += [Case(f"{name}: {ask}", text, ask.strip(), expected) for ask, expected in asked]
    return found


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
async def test_case(session: Session, case: Case) -> None:
    marked = case.text.replace("¦", "", 1)
    number = abs(hash(case.name))
    document = session.document(marked, f"file:///nowhere/calls-{number}/train.py", language="python")
    offset = case.text.index("¦") if "¦" in case.text else 0
    kind, _, argument = case.ask.partition(" ")
    answer = await ASKED[kind](session, document, offset, argument)
    document.close()
    if kind in ("accept", "rename", "fix"):
        assert answer == case.expected
        return
    for line in case.expected.splitlines():
        if line.startswith("not "):
            assert line.removeprefix("not ") not in answer
        else:
            assert line in answer
    assert case.expected or not answer


T = TypeVar("T")


async def answered(asked: Awaitable[T]) -> T:
    return await asyncio.wait_for(asked, SECONDS)


async def hover(session: Session, document: Document, offset: int, _: str) -> str:
    params = types.HoverParams(document.identifier, document.position(offset))
    found = await answered(session.client.text_document_hover_async(params))
    if found is None or found.range is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return f"at {document.slice(found.range)}\n" + re.sub(r"[\\`*]", "", found.contents.value)


async def lens(session: Session, document: Document, _offset: int, _: str) -> str:
    found = await answered(session.client.text_document_code_lens_async(types.CodeLensParams(document.identifier)))
    return "\n".join(f"{each.range.start.line + 1}: {each.command.title}" for each in found or [] if each.command)


async def hints(session: Session, document: Document, _offset: int, _: str) -> str:
    params = types.InlayHintParams(document.identifier, document.range(0, len(document.text)))
    found = await answered(session.client.text_document_inlay_hint_async(params))
    shown = []
    for hint in found or []:
        at = document.offset(hint.position)
        start = at - len(document.text[:at].split("\n")[-1])
        shown.append(f"{document.text[start:at].lstrip()}¦ {hint.label}")
    return "\n".join(shown)


async def _items(session: Session, document: Document, offset: int) -> list[types.CompletionItem]:
    params = types.CompletionParams(document.identifier, document.position(offset))
    found = await answered(session.client.text_document_completion_async(params))
    return list(found.items if isinstance(found, types.CompletionList) else found or [])


async def complete(session: Session, document: Document, offset: int, _: str) -> str:
    return "\n".join(item.label for item in await _items(session, document, offset))


async def accepted(session: Session, document: Document, offset: int, label: str) -> str:
    items = await _items(session, document, offset)
    return accept(document, next(item for item in items if item.label == label))


async def documented(session: Session, document: Document, offset: int, label: str) -> str:
    items = await _items(session, document, offset)
    item = next(item for item in items if item.label == label)
    resolved = await answered(session.client.completion_item_resolve_async(item))
    content = resolved.documentation
    return re.sub(r"[\\`*]", "", content.value) if isinstance(content, types.MarkupContent) else str(content)


async def rename(session: Session, document: Document, offset: int, name: str) -> str:
    params = types.RenameParams(document.identifier, document.position(offset), name)
    edit = await answered(session.client.text_document_rename_async(params))
    assert edit is not None
    document.apply(edit)
    return document.text


async def highlight(session: Session, document: Document, offset: int, _: str) -> str:
    params = types.DocumentHighlightParams(document.identifier, document.position(offset))
    found = await answered(session.client.text_document_document_highlight_async(params))
    return "\n".join(document.slice(item.range) for item in found or [])


async def problems(_session: Session, document: Document, _offset: int, _: str) -> str:
    found = await document.diagnostics()
    return "\n".join(
        f"{item.range.start.line + 1}: [{item.code}] {document.slice(item.range)}: {item.message}" for item in found
    )


async def fix(session: Session, document: Document, _offset: int, title: str) -> str:
    """The text after the first action whose title begins with ``title``."""
    found = await document.diagnostics()
    params = types.CodeActionParams(
        document.identifier, document.range(0, len(document.text)), types.CodeActionContext(found)
    )
    actions = await answered(session.client.text_document_code_action_async(params))
    action = next(each for each in actions or [] if each.title.startswith(title))
    assert isinstance(action, types.CodeAction)
    assert action.edit is not None
    document.apply(action.edit)
    return document.text


Ask = Callable[[Session, Document, int, str], Awaitable[str]]
ASKED: dict[str, Ask] = {
    "hover": hover,
    "lens": lens,
    "hints": hints,
    "complete": complete,
    "accept": accepted,
    "document": documented,
    "rename": rename,
    "highlight": highlight,
    "problems": problems,
    "fix": fix,
}


async def test_the_lens_of_a_config_in_code_opens_its_report(session: Session) -> None:
    text = (
        "from transformers import GPT2Config, LlamaConfig\n\n"
        "first = LlamaConfig(hidden_size=64, num_attention_heads=4)\nsecond = GPT2Config(n_layer=3)\n"
    )
    document = session.document(text, "file:///nowhere/reports/train.py", language="python")
    lenses = await answered(session.client.text_document_code_lens_async(types.CodeLensParams(document.identifier)))
    titles = []
    for lens in lenses or []:
        assert lens.command is not None
        params = types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
        titles.append((await answered(session.client.workspace_execute_command_async(params)))["title"])
    assert titles == ["llama report", "gpt2 report"]
    document.close()
