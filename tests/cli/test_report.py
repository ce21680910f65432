"""The JSON of --report is a contract that other tools rely on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_lsp.__main__ import main

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
HERON = str(EXAMPLES / "heron-moe-230b" / "config.json")
TERN = str(EXAMPLES / "tern-3b" / "config.json")
KEYS = {
    "file",
    "error",
    "model_type",
    "architecture",
    "parameters",
    "tensors",
    "kv_cache",
    "weights",
    "checkpoint",
}


def report(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> list[dict[str, Any]]:
    assert main(["--report", *arguments, "--output-format", "json"]) == status
    entries: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    for entry in entries:
        assert entry.keys() >= KEYS
    return entries


def test_exact_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    heron, tern = report(capsys, HERON, TERN, "--context", "8192,196608")
    assert heron["file"] == HERON
    assert heron["parameters"]["total"] == 228_689_748_992
    assert heron["parameters"]["buffers"] == 15_872
    assert heron["parameters"]["stored"] == 228_689_764_864
    assert heron["parameters"]["exact"] is True
    assert heron["parameters"]["reason"] is None
    assert heron["kv_cache"]["bytes_per_token"] == 248 * 1024
    assert heron["kv_cache"]["at"] == {"8192": 248 * 1024 * 8192, "196608": 248 * 1024 * 196608}
    assert heron["kv_cache"]["transformers"]["scalars_at"]["8192"] == 124 * 1024 * 8192
    assert heron["weights"] == {"bytes": 2 * 228_689_764_864, "dtype": "bfloat16", "dtype_origin": "written"}
    assert heron["checkpoint"] is None
    assert ["model.layers.{}.mlp.experts.down_proj", [256, 3072, 1536], "parameter", 62] in heron["tensors"]
    assert tern["parameters"]["active"] == tern["parameters"]["active_with_embeddings"] == tern["parameters"]["total"]


def test_default_lengths_are_8192_and_the_declared_maximum(capsys: pytest.CaptureFixture[str]) -> None:
    (tern,) = report(capsys, TERN)
    assert list(tern["kv_cache"]["at"]) == ["8192", "32768"]


def test_tensors_sum_to_the_totals(capsys: pytest.CaptureFixture[str]) -> None:
    for entry in report(capsys, HERON, TERN):
        sums = {"parameter": 0, "buffer": 0}
        for _, shape, kind, count in entry["tensors"]:
            scalars = count
            for size in shape:
                scalars *= size
            sums[kind] += scalars
        assert sums == {"parameter": entry["parameters"]["total"], "buffer": entry["parameters"]["buffers"]}


def test_unknown_type_is_labelled_not_guessed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"model_type": "nobody_knows", "architectures": ["NobodyForCausalLM"], "hidden_size": 64}')
    (entry,) = report(capsys, str(file))
    assert entry["parameters"]["total"] is None
    assert entry["parameters"]["exact"] is False
    assert "nobody_knows" in entry["parameters"]["reason"]
    assert entry["tensors"] is None
    assert entry["weights"] is None


def test_dtype_assumed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written = json.loads(Path(TERN).read_text())
    del written["torch_dtype"]
    file = tmp_path / "config.json"
    file.write_text(json.dumps(written))
    (entry,) = report(capsys, str(file))
    assert entry["weights"]["dtype_origin"] == "assumed"
    assert entry["weights"]["bytes"] == 2 * entry["parameters"]["stored"]


def test_a_missing_file_is_an_entry_and_status_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing, tern = report(capsys, str(tmp_path / "none.json"), TERN, status=2)
    assert "cannot be read" in missing["error"]
    assert tern["error"] is None


def test_a_foreign_file_is_an_entry_and_status_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"compilerOptions": {"strict": true}}')
    (entry,) = report(capsys, str(file))
    assert entry["error"] == "not a model configuration"


@pytest.mark.parametrize("lengths", ["0", "-1", "many", "8192,,1", "1e3"])
def test_malformed_lengths_are_a_usage_error(lengths: str) -> None:
    assert main(["--report", TERN, f"--context={lengths}"]) == 2


@pytest.mark.parametrize(
    "text", ["", "{", "[1, 2]", "null", '{"model_type": 5}', '{"model_type": "llama", "hidden_size": "x"}']
)
def test_anything_is_answered(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    (entry,) = report(capsys, str(file))
    assert entry["parameters"] is None or entry["parameters"]["exact"] is False


def test_a_file_that_cannot_be_loaded_is_not_exact(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = Path(TERN).read_text()
    for name, changed in (
        ("broken", text.replace('"hidden_act"', '"hidden_act": , "x"')),
        ("typed", text.replace('"hidden_act": "silu"', '"hidden_act": 5')),
    ):
        file = tmp_path / name / "config.json"
        file.parent.mkdir()
        file.write_text(changed)
        (entry,) = report(capsys, str(file))
        assert entry["parameters"]["exact"] is False
        assert entry["parameters"]["reason"]
        assert entry["kv_cache"]["exact"] is False


@pytest.mark.parametrize("written", ["1" + 400 * "0", "1e308", "-1e308"])
def test_absurd_sizes_are_refused_and_cost_no_other_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, written: str
) -> None:
    file = tmp_path / "config.json"
    file.write_text(Path(TERN).read_text().replace("8192", written))
    absurd, tern = report(capsys, str(file), TERN)
    assert absurd["parameters"]["total"] is None
    assert tern["parameters"]["exact"] is True
    assert main(["--report", str(file), TERN]) == 0


def test_special_files_and_unwritable_targets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--report", str(tmp_path)]) in (0, 2)
    assert main(["--report", TERN, "-o", str(tmp_path / "nowhere" / "card.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err
