"""Ratios, absent keys, git revisions and the most similar models."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from neurarch_lsp.__main__ import main
from neurarch_lsp.card.compare import differences, field_lines, ratio_of
from neurarch_lsp.card.features import features, similarity
from neurarch_lsp.card.similar import catalogue, counterpart, most_similar
from neurarch_rules.engine.analyse import analyse_text
from neurarch_schemas.analysis import Analysis

ROOT = Path(__file__).parent.parent.parent
HERON = ROOT / "examples" / "heron-moe-230b" / "config.json"
TERN = ROOT / "examples" / "tern-3b" / "config.json"


def analysis(path: Path, **changes: Any) -> Analysis:
    found = analyse_text("m/config.json", json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("a", "b", "ratio"),
    [
        (3072, 6144, "x0.500"),
        (256, 32, "x8.00"),
        (196608, 10240000, "x0.019"),
        (62, 80, "x0.775"),
        (100, 101, "about 1"),
        (5, 5, "="),
        (True, 1, "different"),
        (0, 4, "different"),
        ("a", "b", "different"),
        (1.0, 1, "="),
        (None, None, "="),
    ],
)
def test_ratio(a: Any, b: Any, ratio: str) -> None:
    assert ratio_of(a, b) == ratio


def test_union_of_fields() -> None:
    lines = {line.key: line for line in field_lines(analysis(HERON), analysis(TERN))}
    assert lines["num_local_experts"].b is None
    assert lines["num_local_experts"].ratio == "absent"
    assert lines["hidden_size"].ratio == "="
    assert lines["num_attention_heads"].ratio == "x2.00"


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--compare", str(HERON), str(TERN), "--output-format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    derived = {line["key"]: line for line in found["derived"]["lines"]}
    assert derived["parameters"]["a"] == 228_689_748_992
    fields = {line["key"]: line for line in found["fields"]["lines"]}
    assert fields["num_local_experts"] == {"key": "num_local_experts", "a": 256, "ratio": "absent"}
    assert fields["hidden_size"] == {"key": "hidden_size", "a": 3072, "b": 3072, "ratio": "="}
    assert derived["KV cache bytes per token"]["ratio"] == "x2.21"
    assert any(
        sentence.startswith("Experts: 256, top 8 a token against none")
        for sentence in found["structure"]["differences"]
    )


def test_git_revision(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    file = tmp_path / "config.json"
    data = json.loads(TERN.read_text(encoding="utf-8"))
    file.write_text(json.dumps(data))
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    file.write_text(json.dumps(data | {"num_hidden_layers": 56}))
    assert main(["--compare", str(file), f"HEAD:{file}", "--output-format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    lines = {line["key"]: line for line in found["fields"]["lines"]}
    assert lines["num_hidden_layers"]["ratio"] == "x2.00"
    assert main(["--compare", str(file), f"nonsense:{file}"]) == 2


def test_missing_side_is_an_error(tmp_path: Path) -> None:
    assert main(["--compare", str(HERON), str(tmp_path / "none.json")]) == 2
    assert main(["--compare", str(HERON), str(HERON), str(HERON)]) == 2


def test_the_same_structure_scores_one() -> None:
    mine = features(analysis(HERON))
    assert mine is not None
    assert similarity(mine, mine) == 1.0
    other = features(analysis(TERN))
    assert other is not None
    assert similarity(mine, other) == similarity(other, mine) < 0.7


def test_catalogue_is_large_and_dated() -> None:
    known = catalogue()
    assert len(known) >= 200
    assert sum(entry.released is not None for entry in known) > 150
    assert all(entry.lab for entry in known)


def test_a_predecessor_is_older_and_of_the_same_series() -> None:
    found = counterpart(analysis(HERON, num_mtp_modules=3))
    assert found is not None
    assert found.released is not None
    assert found.released < "2025-10"
    mine = features(analysis(HERON, num_mtp_modules=3))
    assert mine is not None
    assert most_similar(mine)[0].score > 0.99


def test_without_b_there_is_a_counterpart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--compare", str(TERN)]) == 0
    assert "against" in capsys.readouterr().out


def test_what_the_catalogue_stores_is_what_its_settings_give() -> None:
    """Also those settings that look like nothing of structure: top_k_experts, a written null, a list of blocks."""
    for known in catalogue():
        found = known.analysis()
        mine = None if found is None else features(found)
        assert known.features in (mine, None), f"{known.name}: run tools/record_profiles.py"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("deepseek-ai/DeepSeek-V2-Lite", 15_706_484_224),  # q_lora_rank is written as null
        ("google/gemma-4-26B-A4B", 25_805_933_872),
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", 49_867_145_216),
    ],
)
def test_catalogued_models_count_as_their_files_do(name: str, parameters: int) -> None:
    known = next(known for known in catalogue() if known.name == name)
    assert known.counts is not None
    assert known.counts[0] == parameters


def test_windows_and_selections_that_differ_are_told() -> None:
    models = {known.name: known for known in catalogue()}
    mistral, llama = models["mistralai/Mistral-7B-v0.1"].analysis(), models["meta-llama/Meta-Llama-3-8B"].analysis()
    assert mistral is not None
    assert llama is not None
    assert "Window: 4,096 tokens against none." in differences(mistral, llama)
    old, new = models["deepseek-ai/DeepSeek-V3"].analysis(), models["deepseek-ai/DeepSeek-V3.2"].analysis()
    assert old is not None
    assert new is not None
    assert "Selection: none against the best 2,048 keys." in differences(old, new)
