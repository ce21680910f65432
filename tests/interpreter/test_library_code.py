"""A class of an installed transformers, from its own source: a made-up package, and the real one where it is there."""

from __future__ import annotations

import json
import lzma
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.analysis import Analysis
from neurarch_schemas.config.read import read_config
from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.library_code import interpret_library, modeling_file
from neurarch_schemas.modules.tree import Module, rows
from neurarch_schemas.surroundings.environment import installed_packages
from neurarch_schemas.surroundings.folder import Folder

RECORDS = Path(__file__).parent.parent / "data" / "parameters.jsonl.xz"
SAMPLE = ("gpt2", "llama", "mixtral", "qwen3", "t5")
INSTALLED = [each for each in installed_packages() if os.path.isdir(os.path.join(each, "transformers", "models"))]

MODELING = """
import torch.nn as nn
from .configuration_novel import NovelConfig


class NovelForCausalLM(nn.Module):
    config_class = NovelConfig

    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
"""
CONFIGURATION = """
class NovelConfig:
    def __init__(self, vocab_size=10, hidden_size=4, **kwargs):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size

    @classmethod
    def from_dict(cls, values):
        return cls(**values)
"""
CONFIG: dict[str, Any] = {
    "model_type": "novel-kind",
    "architectures": ["NovelForCausalLM"],
    "vocab_size": 50,
    "hidden_size": 8,
}


def install(root: Path) -> str:
    folder = root / "transformers" / "models" / "novel_kind"
    folder.mkdir(parents=True)
    for name in (folder, folder.parent, folder.parent.parent):
        (name / "__init__.py").write_text("", encoding="utf-8")
    (folder / "modeling_novel.py").write_text(MODELING, encoding="utf-8")
    (folder / "configuration_novel.py").write_text(CONFIGURATION, encoding="utf-8")
    return str(root)


def test_a_class_of_the_installed_package(tmp_path: Path) -> None:
    assert modeling_file("NovelForCausalLM", "novel-kind", [str(tmp_path)]) is None
    root = install(tmp_path)
    assert modeling_file("NovelForCausalLM", "another-type", [root]) is not None
    assert modeling_file("Novel", "novel-kind", [root]) is None
    result = interpret_library("NovelForCausalLM", CONFIG, [root])
    assert result is not None
    assert result.exact, result.reason
    assert result.tree is not None
    assert sum(row.scalars for row in rows(result.tree)) == 2 * 50 * 8


def test_only_reports_ask_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = tmp_path / "lib" / "python3.11" / "site-packages"
    environment.mkdir(parents=True)
    install(environment)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    text = json.dumps(CONFIG)
    analysis = Analysis(JsonDocument.parse(text), "config", Folder(), read_config(json.loads(text)))
    assert analysis.built.tree is None
    assert analysis.informed.parameters is not None
    assert analysis.informed.parameters.total == 2 * 50 * 8
    assert analysis.built.tree is None
    monkeypatch.delenv("VIRTUAL_ENV")
    plain = Analysis(JsonDocument.parse(text), "config", Folder(), read_config(json.loads(text)))
    assert plain.informed is plain or INSTALLED


def tensors(tree: Module) -> Counter[tuple[str, tuple[int, ...], str]]:
    found: Counter[tuple[str, tuple[int, ...], str]] = Counter()
    for row in rows(tree):
        found[row.name, row.shape, row.kind] += row.count
    return found


def sample() -> list[dict[str, Any]]:
    if not INSTALLED:
        return []
    with lzma.open(RECORDS, "rt", encoding="utf-8") as lines:
        return [record for line in lines if (record := json.loads(line))["model_type"] in SAMPLE]


@pytest.mark.skipif(not INSTALLED, reason="transformers is not installed; its source is not shipped")
@pytest.mark.parametrize("record", sample(), ids=lambda record: f"{record['model_type']} {record['variant']}")
def test_two_derivations_agree(record: dict[str, Any]) -> None:
    result = interpret_library(record["architecture"], record["config"], INSTALLED)
    assert result is not None
    assert result.exact, result.reason
    assert result.tree is not None
    assert tensors(result.tree) == tensors(architectures.build(read_config(record["config"])))
