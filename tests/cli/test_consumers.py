"""What the readers of each machine format make of ours: the whole SARIF schema (pydantic-sarif is made from it) and
sarif-tools, junitparser, GitLab's fields, GitHub's escapes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from junitparser import JUnitXml
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif
from sarif import loader

from neurarch_lsp.__main__ import main
from neurarch_lsp.render.sarif import _uri

TEXT = """{
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama", "num_key_value_heads": 6,
  "vocab_siez": 3,
  "torch_dtype": "bfloat16",
  "x": NaN, "x": 2,
}
"""
NAMES = ("a/config.json", "b ü,c%:d/config.json")
RULES = {
    *("kv-heads-indivisible", "misspelled-key", "legacy-key", "json-nonfinite", "json-duplicate-key", "json-syntax"),
}


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in NAMES:
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(TEXT, encoding="utf-8")

    def of(format_name: str) -> str:
        assert main(["--check", *NAMES, "--output-format", format_name]) == 1
        return capsys.readouterr().out

    return of


def test_sarif_is_as_its_schema_says_and_sarif_tools_read_it(output: Any, tmp_path: Path) -> None:
    text = output("sarif")
    log = json.loads(text)
    Sarif.model_validate(log)
    with pytest.raises(ValueError, match="physicalLocations"):
        Sarif.model_validate(json.loads(text.replace("physicalLocation", "physicalLocations")))
    path = tmp_path / "log.sarif"
    path.write_text(text, encoding="utf-8")
    read = loader.load_sarif_file(str(path))
    report = read.get_report()
    assert report.get_issue_type_histogram_for_severity("error")
    assert read.get_result_count() == 2 * len(RULES)
    assert {entry["Code"] for entry in read.get_records()} == RULES
    assert {unquote(entry["Location"]) for entry in read.get_records()} == set(NAMES)
    assert {entry["Line"] for entry in read.get_records()} == {3, 4, 5, 6}


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("./a b/config.json", "a%20b/config.json"),
        ("a:b/config.json", "a%3Ab/config.json"),
        ("/tmp/ü/config.json", "file:///tmp/%C3%BC/config.json"),
        ("C:\\models\\config.json", "file:///C:/models/config.json"),
    ],
)
def test_sarif_places_are_uri_references(file: str, uri: str) -> None:
    assert _uri(file) == uri


def test_junitparser_reads_junit(output: Any) -> None:
    read = JUnitXml.fromstring(output("junit").encode("utf-8"))
    suites = list(read)
    assert [suite.name for suite in suites] == list(NAMES)
    assert (read.tests, read.failures) == (2 * len(RULES), 2 * len(RULES))
    for suite in suites:
        assert {case.name for case in suite} == RULES
        for case in suite:
            (failure,) = case.result
            assert failure.type in ("error", "warning", "info", "hint")
            assert failure.message
            assert re.fullmatch(rf"{re.escape(suite.name)}:\d+:\d+", failure.text)


def test_gitlab_has_the_required_fields(output: Any) -> None:
    """description, check_name, fingerprint (unique), severity, location.path (relative), location.lines.begin."""
    entries = json.loads(output("gitlab"))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) == 2 * len(RULES)
    for entry in entries:
        assert all(isinstance(entry[key], str) and entry[key] for key in ("description", "check_name", "fingerprint"))
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"]["path"] in NAMES
        assert entry["location"]["lines"]["begin"] >= 1


def test_github_reads_back_what_was_meant(output: Any) -> None:
    """The runner splits at the first "::", then properties at commas, then undoes the escapes."""
    lines = output("github").splitlines()
    assert len(lines) == 2 * len(RULES)
    files = set()
    for line in lines:
        match = re.fullmatch(r"::(error|warning|notice) (.*?)::(.+)", line)
        assert match is not None, line
        properties = dict(part.split("=", 1) for part in match[2].split(","))
        assert set(properties) == {"title", "file", "line", "col", "endLine", "endColumn"}
        files.add(unquote(properties["file"]))
        assert not re.search("%(?!25|0A|0D)", match[3])
    assert files == set(NAMES)
