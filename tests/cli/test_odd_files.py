"""Files beside a config.json, broken downloads and Python: each command says something true about each of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neurarch_lsp.__main__ import main

ADAPTER = '{"peft_type": "LORA", "r": 8, "base_model_name_or_path": "org/base", "target_modules": ["q_proj"]}'
INDEX = '{"metadata": {"total_size": 12}, "weight_map": {"a.weight": "model-00001-of-00001.safetensors"}}'
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n"
MODEL_CODE = (
    "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        self.layer = nn.Linear(3, 4)\n"
)


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    return str(path)


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("generation_config.json", '{"do_sample": true}', "the file describes no model"),
        ("model.safetensors.index.json", INDEX, "the file describes no model"),
        ("generation_config.json", "<!DOCTYPE html>", "the file describes no model"),
        ("adapter_config.json", POINTER, "the file describes no model"),
        ("adapter_config.json", ADAPTER, None),
        ("params.json", '{"dim": 64, "n_layers": 2, "n_heads": 4, "vocab_size": 100}', None),
        ("params.json", "\xff\xfe{\x00", "not a model configuration"),
        ("config.json", '{"port": 80}', "not a model configuration"),
        ("empty.json", "", "not a model configuration"),
    ],
)
def test_report(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, text: str, error: str | None) -> None:
    path = write(tmp_path, name, text)
    assert main(["--report", path, "--output-format", "json"]) == 0
    printed = capsys.readouterr()
    (entry,) = json.loads(printed.out)
    assert entry["error"] == error
    assert (error or "") in printed.err
    assert main(["--report", path]) == 0
    shown = capsys.readouterr().out
    assert bool(shown) is (error is None)
    assert "''" not in shown


def test_an_adapter_without_its_base_says_what_is_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["--report", write(tmp_path, "adapter_config.json", ADAPTER), "--output-format", "json"])
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["adapter"]["trainable"] is None
    assert entry["adapter"]["exact"] is False
    assert "base model" in entry["adapter"]["reason"]


def test_a_folder_without_models_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--report", str(tmp_path), "--output-format", "json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == []
    assert "no model configuration" in printed.err


@pytest.mark.parametrize(
    ("name", "text", "rules"),
    [
        ("generation_config.json", '{"do_sample": true}', []),
        ("model.safetensors.index.json", INDEX, []),
        ("adapter_config.json", ADAPTER, []),
        ("generation_config.json", "<!DOCTYPE html>", ["json-syntax"]),
        ("adapter_config.json", POINTER, ["json-syntax"]),
        ("params.json", "\xff\xfe{\x00", []),
        ("config.json", '{"port": 80}', []),
    ],
)
def test_check(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, text: str, rules: list[str]) -> None:
    status = main(["--check", write(tmp_path, name, text), "--output-format", "json"])
    assert [entry["rule"] for entry in json.loads(capsys.readouterr().out)] == rules
    assert status == (1 if rules else 0)


def test_folders_are_walked_for_model_code(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write(tmp_path, "src/net.py", MODEL_CODE)
    write(tmp_path, "src/web.py", "class Server:\n    def __init__(self):\n        self.port = 80\n")
    assert main(["--check", str(tmp_path), "--show-files", "--output-format", "concise"]) == 0
    shown = capsys.readouterr().out
    assert "net.py" in shown
    assert "web.py" not in shown
    assert main(["--check", str(tmp_path), "--output-format", "json"]) == 1
    assert {Path(entry["file"]).name for entry in json.loads(capsys.readouterr().out)} == {"net.py"}


def test_other_python_files_are_not_parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr("neurarch_schemas.documents.python_document.PythonDocument.tree", property(refuse))
    monkeypatch.setattr("ast.parse", refuse)
    write(tmp_path, "web.py", "import json\n\nPORT = 80\n" * 1000)
    assert main(["--check", str(tmp_path)]) == 0
