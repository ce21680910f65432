"""Symbols, folds, selections, links, hints, lenses and navigation."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest
from lsprotocol import types

from . import samples
from .clients import SECONDS, Document, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")

COMPOSITE = json.dumps(
    {
        "_note": "🤖混",
        "model_type": "mixtral",
        **{key: value for key, value in samples.MOE.items() if key not in ("model_type", "architectures")},
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "architectures": ["MixtralForCausalLM"],
    },
    indent=2,
    ensure_ascii=False,
)


def everything(document: Document) -> types.Range:
    return document.range(0, len(document.text))


async def test_symbols_name_the_keys_and_fold_the_layers(session: Session) -> None:
    document = session.document(COMPOSITE)
    params = types.DocumentSymbolParams(document.identifier)
    found = await asyncio.wait_for(session.client.text_document_document_symbol_async(params), SECONDS)
    assert found
    if session.profile.rich:
        by_name = {item.name: item for item in found if isinstance(item, types.DocumentSymbol)}
        assert document.slice(by_name["rope_parameters"].selection_range) == '"rope_parameters"'
        assert [child.name for child in by_name["rope_parameters"].children or ()] == ["rope_type", "rope_theta"]
        (layers,) = by_name["num_hidden_layers"].children or ()
        assert layers.name == "layers 0-3"
        assert layers.detail == "GQA 4:1, MoE"
        for item in by_name.values():
            assert document.offset(item.range.start) <= document.offset(item.selection_range.start)
            assert document.offset(item.selection_range.end) <= document.offset(item.range.end)
    else:
        assert {"rope_parameters", "rope_type"} <= {item.name for item in found}
    document.close()


async def test_folds_are_whole_objects(session: Session) -> None:
    document = session.document(COMPOSITE)
    params = types.FoldingRangeParams(document.identifier)
    found = await asyncio.wait_for(session.client.text_document_folding_range_async(params), SECONDS)
    lines = document.text.split("\n")
    assert found
    assert {lines[fold.start_line].strip() for fold in found} >= {"{", '"rope_parameters": {'}
    assert all(lines[fold.end_line + 1].strip().rstrip(",") in ("}", "]") for fold in found)
    document.close()


async def test_selection_grows_from_the_word_to_the_file(session: Session) -> None:
    document = session.document(COMPOSITE)
    params = types.SelectionRangeParams(document.identifier, [document.at("default", 2), document.at("🤖", 0)])
    found = await asyncio.wait_for(session.client.text_document_selection_range_async(params), SECONDS)
    assert found
    assert len(found) == 2
    steps = []
    step: types.SelectionRange | None = found[0]
    while step is not None:
        steps.append(document.slice(step.range))
        step = step.parent
    assert steps[0] == "default"
    assert steps[1] == '"default"'
    assert steps[2] == '"rope_type": "default"'
    assert steps[-1] == document.text
    assert all(inner in outer for inner, outer in pairwise(steps))
    assert document.slice(found[1].range) == "🤖混"
    document.close()


async def test_hints_and_their_explanation(session: Session) -> None:
    document = session.document(samples.text(samples.LLAMA, max_position_embeddings=131072))
    params = types.InlayHintParams(document.identifier, everything(document))
    found = await asyncio.wait_for(session.client.text_document_inlay_hint_async(params), SECONDS)
    assert found is not None
    labels = {str(hint.label): document.offset(hint.position) for hint in found}
    assert {"GQA 4:1", "head_dim 32", "128k tokens"} <= labels.keys()
    assert document.text[: labels["GQA 4:1"]].endswith('"num_key_value_heads": 2')
    if session.profile.rich:
        resolved = await asyncio.wait_for(session.client.inlay_hint_resolve_async(found[0]), SECONDS)
        assert resolved.tooltip
    nowhere = types.InlayHintParams(document.identifier, document.range(0, 1))
    assert not await asyncio.wait_for(session.client.text_document_inlay_hint_async(nowhere), SECONDS)
    document.close()


async def test_lens_is_the_model_in_one_line(session: Session) -> None:
    document = session.document(samples.text(samples.MOE))
    params = types.CodeLensParams(document.identifier)
    (lens,) = await asyncio.wait_for(session.client.text_document_code_lens_async(params), SECONDS) or ()
    assert lens.command is not None
    assert "parameters" in lens.command.title
    assert "active" in lens.command.title
    report = types.ExecuteCommandParams(lens.command.command, [document.uri, {"format": "markdown"}])
    content = await asyncio.wait_for(session.client.workspace_execute_command_async(report), SECONDS)
    assert "mixtral" in str(content)
    assert "experts" in str(content)
    document.close()


async def test_links_lead_to_documentation_and_existing_files_only(session: Session, tmp_path: Path) -> None:
    (tmp_path / "modeling_tiny.py").write_text("import x\n\n\nclass TinyModel(Base):\n    n = config.hidden_size\n")
    config = samples.text(
        samples.LLAMA, auto_map={"AutoModel": "modeling_tiny.TinyModel", "AutoConfig": "configuration_tiny.TinyConfig"}
    )
    path = tmp_path / "config.json"
    path.write_text(config)
    document = session.document(config, path.as_uri())
    params = types.DocumentLinkParams(document.identifier)
    found = await asyncio.wait_for(session.client.text_document_document_link_async(params), SECONDS)
    links = {document.slice(link.range): link.target for link in found or ()}
    assert links["llama"] == "https://huggingface.co/docs/transformers/model_doc/llama"
    assert str(links["modeling_tiny.TinyModel"]).endswith("/modeling_tiny.py")
    assert "configuration_tiny.TinyConfig" not in links

    definition = types.DefinitionParams(document.identifier, document.at("modeling_tiny.TinyModel", 3))
    places = await asyncio.wait_for(session.client.text_document_definition_async(definition), SECONDS)
    assert isinstance(places, list | tuple)
    (place,) = places
    start = place.target_range.start if isinstance(place, types.LocationLink) else place.range.start
    assert (start.line, start.character) == (3, 6)

    references = types.ReferenceParams(
        types.ReferenceContext(include_declaration=True), document.identifier, document.at('"hidden_size"', 3)
    )
    uses = await asyncio.wait_for(session.client.text_document_references_async(references), SECONDS)
    assert uses is not None
    assert {document.slice(use.range) for use in uses if use.uri == document.uri} == {
        '"hidden_size"',
        '"num_attention_heads"',
    }
    assert [use.range.start.line for use in uses if use.uri.endswith(".py")] == [4]
    document.close()


async def test_references_of_a_shard_are_its_tensors(session: Session) -> None:
    files = {"a.weight": "model-1.safetensors", "b.weight": "model-2.safetensors", "c.weight": "model-1.safetensors"}
    text = json.dumps({"metadata": {"total_size": 1}, "weight_map": files}, indent=2)
    document = session.document(text, "file:///nowhere/shards/model.safetensors.index.json")
    context = types.ReferenceContext(include_declaration=True)
    params = types.ReferenceParams(context, document.identifier, document.at("model-1", 3))
    found = await asyncio.wait_for(session.client.text_document_references_async(params), SECONDS)
    assert {document.slice(place.range) for place in found or ()} == {'"a.weight"', '"c.weight"'}
    document.close()


async def test_from_python_to_the_config(session: Session, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(samples.text(samples.LLAMA))
    code = "class M:\n    def __init__(self, config):\n        self.h = config.hidden_size\n"
    path = tmp_path / "modeling_tiny.py"
    path.write_text(code)
    document = session.document(code, path.as_uri(), language="python")
    params = types.DefinitionParams(document.identifier, document.at("hidden_size", 2))
    places = await asyncio.wait_for(session.client.text_document_definition_async(params), SECONDS)
    assert isinstance(places, list | tuple)
    (place,) = places
    uri = place.target_uri if isinstance(place, types.LocationLink) else place.uri
    assert uri.endswith("/config.json")
    document.close()


async def test_highlight_shows_the_keys_that_belong_together(session: Session) -> None:
    document = session.document(samples.text(samples.MOE))
    params = types.DocumentHighlightParams(document.identifier, document.at('"num_experts_per_tok"', 3))
    found = await asyncio.wait_for(session.client.text_document_document_highlight_async(params), SECONDS)
    assert {document.slice(item.range) for item in found or ()} == {'"num_experts_per_tok"', '"num_local_experts"'}
    document.close()


async def test_rename_proposes_the_new_spelling(session: Session) -> None:
    config = samples.text(samples.LLAMA).replace('"dtype"', '"torch_dtype"')
    document = session.document(config)
    position = document.at('"torch_dtype"', 3)
    prepared = await asyncio.wait_for(
        session.client.text_document_prepare_rename_async(types.PrepareRenameParams(document.identifier, position)),
        SECONDS,
    )
    assert isinstance(prepared, types.PrepareRenamePlaceholder)
    assert prepared.placeholder == "dtype"
    assert document.slice(prepared.range) == "torch_dtype"
    params = types.RenameParams(document.identifier, position, prepared.placeholder)
    edit = await asyncio.wait_for(session.client.text_document_rename_async(params), SECONDS)
    assert edit is not None
    document.apply(edit)
    assert document.text == samples.text(samples.LLAMA)
    document.close()


async def test_formatting_keeps_the_authors_style(session: Session) -> None:
    text = (
        '{\n    "model_type":"llama",\n  "architectures": ["LlamaForCausalLM"],\n\n'
        '    "rope_parameters": {"rope_type": "default",\n"rope_theta": 1e4},\n    "eos_token_id": [1,2,\n3]\n}'
    )
    document = session.document(text)
    params = types.DocumentFormattingParams(document.identifier, types.FormattingOptions(2, True))
    edits = await asyncio.wait_for(session.client.text_document_formatting_async(params), SECONDS)
    assert edits
    document.apply(types.WorkspaceEdit(changes={document.uri: list(edits)}))
    assert document.text == (
        '{\n    "model_type": "llama",\n    "architectures": ["LlamaForCausalLM"],\n'
        '    "rope_parameters": {\n        "rope_type": "default",\n        "rope_theta": 1e4\n    },\n'
        '    "eos_token_id": [\n        1,\n        2,\n        3\n    ]\n}'
    )
    document.close()


async def test_compare_with_another_file_and_with_head(session: Session, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(samples.text(samples.MOE, num_hidden_layers=2))
    document = session.document(samples.text(samples.MOE), (tmp_path / "config.json").as_uri())
    for options, expected in (
        ({"with": str(other), "format": "markdown"}, "Fields"),
        ({"with": "HEAD", "format": "html"}, "git: "),
    ):
        params = types.ExecuteCommandParams("neurarch.compare", [document.uri, options])
        answer = await asyncio.wait_for(session.client.workspace_execute_command_async(params), SECONDS)
        assert expected in str(answer)
    document.close()
