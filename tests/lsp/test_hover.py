"""Hovers say the numbers of this very model, in the client's markup and encoding."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from lsprotocol import types

from . import samples
from .clients import SECONDS, Document, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def hover(session: Session, document: Document, position: types.Position) -> types.Hover | None:
    params = types.HoverParams(document.identifier, position)
    return await asyncio.wait_for(session.client.text_document_hover_async(params), SECONDS)


def content(found: types.Hover | None) -> str:
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


def cache_per_token(config: dict[str, Any]) -> int:
    """Bytes, worked out here from the definition: keys and values of every layer, 2 bytes a scalar."""
    return 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * 32 * 2


async def test_kv_heads_name_ratio_and_cache(session: Session) -> None:
    document = session.document(samples.text(samples.LLAMA))
    found = await hover(session, document, document.at('"num_key_value_heads"', 3))
    text = content(found)
    assert "2 KV heads" in text
    assert "GQA 4:1" in text
    per_token = cache_per_token(samples.LLAMA)
    assert f"{per_token // 1024} KiB/token" in text.replace(".0 ", " ") or f"{per_token / 1024:g} KiB/token" in text
    assert found is not None
    assert found.range is not None
    assert document.slice(found.range) == '"num_key_value_heads"'
    document.close()


async def test_neighbours_are_computed_not_scaled(session: Session) -> None:
    """One more layer adds exactly one layer's parameters."""
    document = session.document(samples.text(samples.LLAMA))
    text = content(await hover(session, document, document.at('"num_hidden_layers"', 3)))
    hidden, intermediate, kv = 256, 688, 64
    layer = 2 * hidden * hidden + 2 * hidden * kv + 3 * hidden * intermediate + 2 * hidden
    total = 6 * layer + 2 * 1000 * hidden + hidden
    assert f"{total:,}" in text
    assert f"{total + layer:,}" in text
    assert f"{total - layer:,}" in text
    document.close()


async def test_the_number_follows_the_edit(session: Session) -> None:
    document = session.document(samples.text(samples.LLAMA))
    before = content(await hover(session, document, types.Position(0, 0)))
    document.substitute('"num_hidden_layers": 6', '"num_hidden_layers": 7')
    after = content(await hover(session, document, types.Position(0, 0)))
    assert before != after
    assert "in 7 layers" in after
    document.close()


async def test_first_line_is_the_model_card(session: Session) -> None:
    document = session.document(samples.text(samples.MOE))
    text = content(await hover(session, document, types.Position(0, 0)))
    for word in ("MixtralForCausalLM", "Parameters", "Active per token", "KV cache", "Weights", "4,096 tokens"):
        assert word in text
    document.close()


async def test_markup_of_the_client(session: Session) -> None:
    document = session.document(samples.text(samples.LLAMA))
    found = await hover(session, document, document.at('"hidden_size"', 3))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    rich = session.profile.rich
    assert found.contents.kind == (types.MarkupKind.Markdown if rich else types.MarkupKind.PlainText)
    assert ("**" in found.contents.value) is rich
    document.close()


async def test_behind_emoji(session: Session) -> None:
    text = samples.text(samples.LLAMA).replace("{", '{ "_🤖混": "🧠", "num_hidden_layers": 9,', 1)
    document = session.document(text)
    found = await hover(session, document, document.at('"num_hidden_layers"', 5))
    assert found is not None
    assert found.range is not None
    assert document.slice(found.range) == '"num_hidden_layers"'
    document.close()


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("hidden_act", "is the default of"),
        ("max_position_embeddings", "of KV cache for one sequence"),
        ("dtype", "of weights"),
        ("model_type", "model_doc/llama"),
    ],
)
async def test_what_each_kind_of_key_says(session: Session, key: str, expected: str) -> None:
    document = session.document(samples.text(samples.LLAMA))
    assert expected in content(await hover(session, document, document.at(f'"{key}"', 3)))
    document.close()


async def test_nothing_about_foreign_files(session: Session) -> None:
    document = session.document('{\n  "name": "app",\n  "hidden_size": 3\n}')
    assert await hover(session, document, document.at("hidden_size")) is None
    document.close()
