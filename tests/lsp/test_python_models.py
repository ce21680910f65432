"""Module classes of a Python file: numbers over the class, in its hover and outline; config attributes lead home."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from lsprotocol import types

from neurarch_lsp.features import python_outline
from neurarch_lsp.features.python_models import PythonModels, read
from neurarch_schemas.interpreter import SourceCache

from .clients import SECONDS, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")

GPT = """\
from dataclasses import dataclass

import torch.nn as nn

NAME = "größe 𝛼"


@dataclass
class GPTConfig:
    n_layer: int = 3
    n_embd: int = 64
    vocab_size: int = 100


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 4 * width)
        self.out = nn.Linear(4 * width, width)


class GPT(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.h = nn.ModuleList([Block(config.n_embd) for _ in range(config.n_layer)])
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.lm_head.weight = self.wte.weight
"""
BLOCK = 64 * 256 + 256 + 256 * 64 + 64
TOTAL = 100 * 64 + 3 * BLOCK
URI = "file:///nowhere/python/gpt.py"


async def test_a_lens_over_each_module_class(session: Session) -> None:
    document = session.document(GPT, URI, language="python")
    found = await asyncio.wait_for(
        session.client.text_document_code_lens_async(types.CodeLensParams(document.identifier)), SECONDS
    )
    assert found is not None
    titles = {document.slice(lens.range): lens.command.title for lens in found if lens.command}
    assert titles["GPT"] == f"GPT: {TOTAL:,} parameters as GPT(GPTConfig())"
    assert "needs the argument 'width'" in titles["Block"]
    document.close()


async def hover(session: Session, needle: str, within: int = 1) -> tuple[str, str]:
    document = session.document(GPT, URI, language="python")
    params = types.HoverParams(document.identifier, document.at(needle, within))
    found = await asyncio.wait_for(session.client.text_document_hover_async(params), SECONDS)
    document.close()
    if found is None:
        return "", ""
    assert isinstance(found.contents, types.MarkupContent)
    assert found.range is not None
    return found.contents.value.replace("\\", ""), document.slice(found.range)


async def test_the_hover_of_a_class_shows_its_submodules(session: Session) -> None:
    text, place = await hover(session, "class GPT(", 7)
    assert place == "GPT"
    assert f"{TOTAL:,} parameters as GPT(GPTConfig())" in text
    assert "3 x Block" in text
    assert f"{3 * BLOCK:,}" in text


async def test_the_hover_of_an_assignment_shows_its_part(session: Session) -> None:
    text, place = await hover(session, "self.wte", 6)
    assert place == "wte"
    assert "6,400 parameters" in text
    assert f"{100 * 6400 / TOTAL:.1f} %" in text
    assert "100 x 64" in text


async def test_a_part_of_a_class_without_a_construction_is_shown_in_the_model_that_holds_it(session: Session) -> None:
    text, _ = await hover(session, "self.fc", 6)
    assert "16,640 parameters, 49,920 in all 3 instances" in text
    assert "GPT(GPTConfig())" in text


async def test_the_lens_opens_a_report_of_the_classes(session: Session) -> None:
    document = session.document(GPT, "file:///nowhere/report/gpt.py", "python")
    lenses = await session.client.text_document_code_lens_async(types.CodeLensParams(document.identifier))
    lens = next(lens for lens in lenses or () if lens.command and lens.command.command == "neurarch.report")
    assert lens.command is not None
    for form in ("markdown", "html"):
        arguments = [*(lens.command.arguments or ()), {"format": form}]
        params = types.ExecuteCommandParams(lens.command.command, arguments)
        found = await session.client.workspace_execute_command_async(params)
        report = dict(found)
        assert report["title"] == "gpt report"
        assert f"{TOTAL:,} parameters as GPT(GPTConfig())" in report["content"]
        assert "3 x Block" in report["content"]
    document.close()


async def test_other_places_say_nothing(session: Session) -> None:
    assert await hover(session, "NAME") == ("", "")


async def test_the_outline_is_the_module_tree(session: Session) -> None:
    document = session.document(GPT, URI, language="python")
    params = types.DocumentSymbolParams(document.identifier)
    found = await asyncio.wait_for(session.client.text_document_document_symbol_async(params), SECONDS)
    assert found is not None
    names = [symbol.name for symbol in found]
    if isinstance(found[0], types.DocumentSymbol):
        assert names == ["Block", "GPT"]
        last = found[-1]
        assert isinstance(last, types.DocumentSymbol)
        assert [child.name for child in last.children or ()] == ["wte", "h", "lm_head"]
    else:
        assert names == ["Block", "GPT", "wte", "h", "lm_head"]
    document.close()


async def test_a_config_attribute_leads_to_its_field_and_to_the_config_beside(session: Session, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt", "n_embd": 64}')
    path = tmp_path / "modeling_gpt.py"
    path.write_text(GPT, encoding="utf-8")
    document = session.document(GPT, path.as_uri(), language="python")
    params = types.DefinitionParams(document.identifier, document.at("config.n_embd", 9))
    found = await asyncio.wait_for(session.client.text_document_definition_async(params), SECONDS)
    assert isinstance(found, list)
    targets = [
        (item.target_uri, item.target_range) if isinstance(item, types.LocationLink) else (item.uri, item.range)
        for item in found
        if isinstance(item, types.LocationLink | types.Location)
    ]
    assert [uri.rpartition("/")[2] for uri, _ in targets] == ["modeling_gpt.py", "config.json"]
    assert document.slice(targets[0][1]) == "n_embd"
    assert targets[0][1].start.line == GPT[: GPT.index("n_embd: int")].count("\n")
    document.close()


async def test_while_a_line_is_broken_the_last_numbers_stay_at_the_present_place() -> None:
    models = PythonModels(partial(read, cache=SourceCache()))
    before = models.of("/nowhere/gpt.py", GPT, ())
    broken = GPT.replace("NAME =", "# moved\nNAME = (((")
    after = models.of("/nowhere/gpt.py", broken, ())
    assert [model.name for model in after] == [model.name for model in before]
    assert broken[slice(*after[-1].name_span)] == "GPT"
    assert python_outline.one_line(after[-1]).endswith("(last readable version)")
    assert models.of("/nowhere/gpt.py", GPT, ())[-1].broken is False


async def test_hostile_code_ends_with_a_reason() -> None:
    text = (
        "import torch.nn as nn\n\n\nclass Endless(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        while True:\n            pass\n\n\nclass Wide(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.x = nn.ModuleList([nn.Linear(2, 2) for _ in range(10**9)])\n"
    )
    found = PythonModels(partial(read, cache=SourceCache())).of("/nowhere/hostile.py", text, ())
    assert [model.exact for model in found] == [False, False]
    assert all(model.reason for model in found)
