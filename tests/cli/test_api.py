"""The public Python API: the same findings and numbers as the command line, as plain values."""

from __future__ import annotations

import doctest
import importlib.util
import json
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from neurarch_lsp import api
from neurarch_lsp.__main__ import main

GOOD = '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_key_value_heads": 8}'
BAD = GOOD.replace(": 8", ": 6")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "corpus" / "lint_with_dask.py"


def corpus(folder: Path, count: int) -> list[str]:
    paths = []
    for number in range(count):
        path = folder / f"m{number}" / "config.json"
        path.parent.mkdir(parents=True)
        path.write_text((GOOD, BAD, '{"port": 1}')[number % 3])
        paths.append(str(path))
    return paths


def test_examples_in_the_documentation_are_true() -> None:
    assert doctest.testmod(api).failed == 0


def test_findings_are_those_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = corpus(tmp_path, 6)
    results = api.check_files(paths)
    main(["--check", *paths, "--output-format", "json"])
    printed = json.loads(capsys.readouterr().out)
    ours = [finding for result in results for finding in result.findings]
    assert [(item["file"], item["rule"], item["message"], item["pointer"]) for item in printed] == [
        (finding.file, finding.rule, finding.message, finding.pointer) for finding in ours
    ]
    assert [item["range"]["start"]["column"] for item in printed] == [finding.range.start_column for finding in ours]
    assert [result.kind for result in results[:3]] == ["config", "config", None]


def test_results_are_picklable_and_the_same_from_several_processes(tmp_path: Path) -> None:
    paths = corpus(tmp_path, 9)
    results = api.check_files(paths)
    assert pickle.loads(pickle.dumps(results)) == results
    assert api.check_files(paths, jobs=2) == results


def test_settings_can_be_given(tmp_path: Path) -> None:
    (path,) = corpus(tmp_path, 1)
    assert api.check_text(BAD, path, settings={"ignore": ["kv-heads-indivisible"]}).findings == ()
    (finding,) = api.check_text(BAD, path, settings={"severity": {"kv-heads-indivisible": "info"}}).findings
    assert finding.severity == "info"


def test_a_file_that_cannot_be_read_is_a_result(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent.json")
    (result,) = api.check_files([absent])
    assert result.error
    assert api.report_file(absent)["error"]
    assert api.report_text("{}", "other.json")["error"]


def load_example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lint_with_dask", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_blocks_of_the_corpus_example_give_the_same_as_one_run(tmp_path: Path) -> None:
    example = load_example()
    paths = corpus(tmp_path, 7)
    blocks = list(example.blocks(paths, 3))
    assert [path for block in blocks for path in block] == paths
    results = [item for block in blocks for item in example.lint_block(block)]
    assert [result for result, _ in results] == api.check_files(paths)
    assert [total is not None for _, total in results[:3]] == [True, True, False]


def test_corpus_example_on_a_local_cluster(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the example's cluster is an optional dependency")
    paths = corpus(tmp_path, 9)
    done = subprocess.run([sys.executable, str(EXAMPLE), str(tmp_path)], capture_output=True, check=True, text=True)
    errors = sum(bool(result.findings) for result in api.check_files(paths))
    assert f"{errors:6}  error   kv-heads-indivisible" in done.stdout
    assert "9 files" in done.stdout


def test_a_python_text_is_told_as_such() -> None:
    text = "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        self.a = nn.Linear(3, 4)\n"
    result = api.check_text(text, "-.py")
    assert result.kind == "python"
    assert [finding.rule for finding in result.findings] == ["module-before-super-init"]
    assert api.check_text("print(1)\n", "-.py").kind is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"serving": 5}, "serving"),
        ({"bogus": 1}, "bogus: unknown key"),
        ({"ignore": ["kv-heads-indivisble"]}, "did you mean 'kv-heads-indivisible'"),
        ({"severity": {"nope": "error"}}, "unknown rule 'nope'"),
        ({"severity": {"kv-heads-indivisible": "fatal"}}, "severity.kv-heads-indivisible"),
        ({"serving": {"gpu": "ZX-81"}}, "unknown gpu 'ZX-81'"),
    ],
)
def test_settings_that_the_command_line_refuses_are_refused(
    settings: dict[str, object], said: str, tmp_path: Path
) -> None:
    (path,) = corpus(tmp_path, 1)
    with pytest.raises(api.SettingsError, match=said):
        api.check_text(BAD, path, settings=settings)
    with pytest.raises(api.SettingsError, match=said):
        api.check_files([path], settings=settings)


def test_given_ignores_keep_to_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {"ignores": [{"file": "old/**", "rule": "kv-heads-indivisible"}]}
    assert api.check_text(BAD, "old/config.json", settings=settings).findings == ()
    assert api.check_text(BAD, "new/config.json", settings=settings).findings


PYTHON = "from torch import nn\n\n\nclass Net(nn.Linear):\n    def __init__(self):\n        super().__init__(8, 4)\n"


def test_python_is_reported_as_by_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.py"
    path.write_text(PYTHON)
    for name in (str(path), f"{path}:Net()", str(tmp_path / "none.py")):
        main(["--report", name, "--output-format", "json"])
        assert api.report_file(name) == json.loads(capsys.readouterr().out)[0]
    assert api.report_text(PYTHON, str(path)) == api.report_file(str(path))
    (model,) = api.report_text(PYTHON.replace("8, 4", "9, 4"), str(path))["models"]
    assert model["parameters"]["total"] == 40
    (alone,) = api.report_text(PYTHON, "nowhere/net.py")["models"]
    assert alone["parameters"]["total"] == 36
