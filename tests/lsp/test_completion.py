"""Completions by role of the cursor, also in broken text, applied as an editor applies them."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from lsprotocol import types

from neurarch_lsp.lsp.snippets import plain_text

from .clients import SECONDS, Document, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def complete(
    session: Session, marked: str, uri: str | None = None
) -> tuple[Document, list[types.CompletionItem]]:
    """Completions where ``|`` stands."""
    offset = marked.index("|")
    document = session.document(marked.replace("|", "", 1), uri)
    params = types.CompletionParams(document.identifier, document.position(offset))
    found = await asyncio.wait_for(session.client.text_document_completion_async(params), SECONDS)
    items = found.items if isinstance(found, types.CompletionList) else list(found or [])
    return document, list(items)


def accept(document: Document, item: types.CompletionItem) -> str:
    """The text after accepting an item, placeholders left at their defaults."""
    assert isinstance(item.text_edit, types.TextEdit)
    new = item.text_edit.new_text
    if item.insert_text_format == types.InsertTextFormat.Snippet:
        new = plain_text(new)
    edits = [
        (item.text_edit.range, new),
        *[(extra.range, extra.new_text) for extra in item.additional_text_edits or ()],
    ]
    text = document.text
    for range_, replacement in sorted(edits, key=lambda edit: document.offset(edit[0].start), reverse=True):
        text = text[: document.offset(range_.start)] + replacement + text[document.offset(range_.end) :]
    return text


def named(items: list[types.CompletionItem], label: str) -> types.CompletionItem:
    return next(item for item in items if item.label == label)


@pytest.mark.parametrize(
    "marked",
    [
        '{\n  "model_type": "llama",\n  |\n}',
        '{\n  "model_type": "llama",\n  "hid|\n}',
        '{\n  "model_type": "llama",\n  hid|\n}',
        '{\n  "model_type": "llama",\n  "hid|"\n}',
        '{\n  "model_type": "llama"\n  |\n}',
        '{"model_type": "llama", |',
        '{\n  "model_type": "llama",\n  |\n  "vocab_size": 10\n}',
        '{\n  "model_type": "llama", "_note": "🤖混", |\n  "vocab_size": 10\n}',
    ],
)
async def test_key_makes_sound_json_even_of_broken_text(session: Session, marked: str) -> None:
    document, items = await complete(session, marked)
    text = accept(document, named(items, "hidden_size"))
    assert json.loads(text if text.rstrip().endswith("}") else text + "}")["hidden_size"] == 4096
    document.close()


async def test_keys_that_are_written_are_not_offered_again(session: Session) -> None:
    document, items = await complete(session, '{"model_type": "mixtral", "num_experts": 4, "vocab_size": 3, |}')
    labels = {item.label for item in items}
    assert "vocab_size" not in labels
    assert "num_local_experts" not in labels, "num_experts is another name of it"
    assert "num_experts_per_tok" in labels
    document.close()


async def test_renaming_a_key_keeps_its_value(session: Session) -> None:
    document, items = await complete(session, '{"model_type": "llama", "hid|": 12}')
    assert json.loads(accept(document, named(items, "hidden_size")))["hidden_size"] == 12
    document.close()


async def test_nested_configs_have_their_own_keys(session: Session) -> None:
    document, items = await complete(session, '{"model_type": "qwen2_vl", "vision_config": {|}}')
    labels = {item.label for item in items}
    assert "patch_size" in labels
    assert "num_key_value_heads" not in labels
    document.close()


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ('{"model_type": "|"}', "deepseek_v3"),
        ('{"model_type": |}', "llama"),
        ('{"model_type": "llama", "hidden_act": "|"}', "silu"),
        ('{"model_type": "llama", "dtype": "b|"}', "bfloat16"),
        ('{"model_type": "llama", "architectures": ["|"]}', "LlamaForCausalLM"),
        ('{"model_type": "llama", "rope_parameters": {"rope_type": "|"}}', "yarn"),
        ('{"model_type": "llama", "rope_scaling": {"type": |}}', "linear"),
        ('{"model_type": "llama", "quantization_config": {"quant_method": "|"}}', "gptq"),
        ('{"model_type": "gpt_oss", "layer_types": ["full_attention", |]}', "sliding_attention"),
        ('{"model_type": "llama", "tie_word_embeddings": |}', "true"),
    ],
)
async def test_values(session: Session, marked: str, expected: str) -> None:
    document, items = await complete(session, marked)
    data = json.loads(accept(document, named(items, expected)))
    assert expected in json.dumps(data)
    document.close()


async def test_kinds_of_layer_that_the_family_has_come_first(session: Session) -> None:
    document, items = await complete(session, '{"model_type": "qwen3_next", "layer_types": ["full_attention", |]}')
    first = sorted(items, key=lambda item: item.sort_text or item.label)[:2]
    assert {item.label.strip('"') for item in first} == {"linear_attention", "full_attention"}
    document.close()


async def test_section_keys_follow_the_rope_type(session: Session) -> None:
    document, items = await complete(session, '{"model_type": "llama", "rope_parameters": {"rope_type": "llama3", |}}')
    labels = {item.label for item in items}
    assert {"low_freq_factor", "high_freq_factor"} <= labels
    assert "beta_fast" not in labels
    document.close()


@pytest.mark.parametrize("marked", ["|", "{|}", "{\n  |\n}"])
async def test_an_empty_file_gets_a_skeleton(session: Session, marked: str) -> None:
    document, items = await complete(session, marked)
    data = json.loads(accept(document, named(items, "llama config")))
    assert data["model_type"] == "llama"
    assert data["num_hidden_layers"] == 32
    document.close()


@pytest.mark.parametrize(
    "marked",
    [
        '{"name": "app", "version": 1, |}',
        '{"model_type": "llama"} |',
        '{"model_type": "llama" // com|ment\n}',
        '{"model_type" | : "llama"}',
    ],
)
async def test_nothing_where_nothing_belongs(session: Session, marked: str) -> None:
    document, items = await complete(session, marked)
    assert items == []
    document.close()


@pytest.mark.parametrize(
    ("name", "marked", "expected"),
    [
        ("generation_config.json", '{"do_sample": true, "max_new_tokens": 5, |}', "temperature"),
        ("adapter_config.json", '{"peft_type": "LORA", |}', "lora_alpha"),
    ],
)
async def test_relatives_have_keys_of_their_own(session: Session, name: str, marked: str, expected: str) -> None:
    document, items = await complete(session, marked, f"file:///nowhere/relatives/{name}")
    assert "model_type" not in {item.label for item in items}
    assert expected in json.loads(accept(document, named(items, expected)))
    document.close()


async def test_resolve_documents_the_effect(session: Session) -> None:
    document, items = await complete(session, '{"model_type": "llama", "num_hidden_layers": 2, |}')
    item = named(items, "num_key_value_heads")
    resolved = await asyncio.wait_for(session.client.completion_item_resolve_async(item), SECONDS)
    assert isinstance(resolved.documentation, types.MarkupContent)
    assert "KV heads" in resolved.documentation.value
    document.close()


async def test_snippets_only_for_clients_that_have_them(session: Session) -> None:
    document, items = await complete(session, '{"model_type": "llama", |}')
    item = named(items, "hidden_size")
    assert isinstance(item.text_edit, types.TextEdit)
    has = item.insert_text_format == types.InsertTextFormat.Snippet
    assert has is session.profile.rich
    assert bool(re.search(r"\$\{", item.text_edit.new_text)) is session.profile.rich
    document.close()
