"""Suppressions are written where the settings and the engine find them again."""

from __future__ import annotations

import tomllib

import pytest

from neurarch_lsp.features import settings_file, suppression
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.suppress import comments
from neurarch_schemas.documents.line_index import LineIndex

FINDING = Finding("message", Place("/num_key_value_heads"), rule="kv-heads-indivisible")


def written(before: str, path: str | None) -> dict[str, object]:
    """The settings after suppressing FINDING of /folder/models/config.json."""
    found = suppression.in_settings(FINDING, "/folder/models/config.json", path, before, "/folder")
    start, end = found.edit.span
    return tomllib.loads(before[:start] + found.edit.text + before[end:])


@pytest.mark.parametrize(
    ("before", "path"),
    [
        ("", None),
        ("[serving]\ncontext = 4096", "/folder/neurarch-lsp.toml"),
        ("[serving]\ncontext = 4096\n", "/folder/neurarch-lsp.toml"),
        ('[[ignores]]\nrule = "x"\n', "/folder/neurarch-lsp.toml"),
        ('ignores = [\n  { rule = "x" },\n]\n[serving]\ncontext = 1\n', "/folder/neurarch-lsp.toml"),
        ("ignores = []\n", "/folder/neurarch-lsp.toml"),
    ],
)
def test_an_entry_for_rule_and_key(before: str, path: str | None) -> None:
    entries = written(before, path)["ignores"]
    assert isinstance(entries, list)
    entry = {
        "file": "models/config.json",
        "rule": "kv-heads-indivisible",
        "pointer": "/num_key_value_heads",
        "reason": "",
    }
    assert entry in entries


def test_in_a_project_file() -> None:
    table = written('[project]\nname = "x"\n\n[tool.neurarch-lsp]\nselect = []\n', "/folder/pyproject.toml")
    assert isinstance(table["tool"], dict)
    assert table["tool"]["neurarch-lsp"]["ignores"][0]["rule"] == "kv-heads-indivisible"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = 1", "x = 1  # neurarch: ignore[kv-heads-indivisible]"),
        ("x = 1  # neurarch: ignore[other] why", "x = 1  # neurarch: ignore[other, kv-heads-indivisible] why"),
    ],
)
def test_a_comment_in_python(line: str, expected: str) -> None:
    text = f"a = 0\n{line}\nb = 2\n"
    edit = suppression.in_python(FINDING, text.index("x"), text, LineIndex(text))
    after = text[: edit.span[0]] + edit.text + text[edit.span[1] :]
    assert after == f"a = 0\n{expected}\nb = 2\n"
    (comment,) = comments(after)
    assert "kv-heads-indivisible" in comment.rules


@pytest.mark.parametrize(
    ("text", "marked", "words"),
    [
        ("[serving]\ncontxt = 3\n", "contxt", "unknown setting"),
        ('severity = { x = "loud" }\n', "severity", "'warning'"),
        ('[[ignores]]\nrule = "a"\n[[ignores]]\nrul = "b"\n', "rul", "unknown setting"),
        ("select = [1]\n", "select", "string"),
        ("x =\n", "\n", "TOML"),
        ('ignore = ["kv-heads-indivisibl"]\n', "kv-heads-indivisibl", "did you mean"),
    ],
)
def test_problems_stand_where_they_are_written(text: str, marked: str, words: str) -> None:
    found = settings_file.problems("/folder/neurarch-lsp.toml", text)
    assert any(text[start:end] == marked and words in message for (start, end), message in found), found


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "[tool.other]\na = 1\n", "[tool\n"])
def test_other_project_files_are_left_alone(text: str) -> None:
    assert settings_file.problems("/folder/pyproject.toml", text) == []
