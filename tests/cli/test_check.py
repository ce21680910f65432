"""``--check``: what is printed, what is written, and the exit status."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neurarch_lsp.__main__ import main
from neurarch_rules.engine import discovery

GOOD = """{
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "num_key_value_heads": 8
}
"""
BAD = GOOD.replace('"num_key_value_heads": 8', '"num_key_value_heads": 6')
FIXABLE = GOOD.replace('"num_key_value_heads"', '"vocab_siez": 64000,\n  "num_key_value_heads"')
INFO = GOOD.replace('"num_key_value_heads": 8', '"num_key_value_heads": 8,\n  "use_cache": false')


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


def write(path: str, text: str) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(text.encode("utf-8"))
    return path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = main(["--check", *arguments])
    except SystemExit as stop:
        status = int(stop.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(check(capsys, *arguments, "--output-format", "json")[1])
    return found


def test_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, write("config.json", GOOD))[0] == 0
    assert check(capsys, write("config.json", BAD))[0] == 1
    assert check(capsys, write("config.json", INFO))[0] == 0
    assert check(capsys, "config.json", "--fail-on", "info")[0] == 1
    assert check(capsys, "config.json", "--fail-on", "warning")[0] == 0
    write("config.json", BAD)
    assert check(capsys, "config.json", "--fail-on", "never")[0] == 0
    assert check(capsys, "absent.json")[0] == 2
    assert check(capsys)[0] == 2
    assert check(capsys, "config.json", "--select", "no-such-rule")[0] == 2
    assert check(capsys, "config.json", "--output-format", "yaml")[0] == 2


def test_json_contract(capsys: pytest.CaptureFixture[str]) -> None:
    (entry,) = as_json(capsys, write("models/config.json", BAD))
    assert list(entry) == [
        *("file", "rule", "severity", "category", "message", "url", "range", "pointer", "related", "fixes"),
    ]
    assert entry["file"] == "models/config.json"
    assert entry["rule"] == "kv-heads-indivisible"
    assert entry["severity"] == "error"
    assert entry["category"] == "correctness"
    assert entry["url"].endswith("kv_heads_indivisible.md")
    assert entry["range"] == {"start": {"line": 4, "column": 26}, "end": {"line": 4, "column": 27}}
    assert entry["pointer"] == "/num_key_value_heads"
    assert entry["related"][0]["pointer"] == "/num_attention_heads"
    assert entry["related"][0]["file"] == "models/config.json"
    (fix,) = entry["fixes"]
    assert fix["applicability"] == "display"
    assert fix["edits"] == [{"file": "models/config.json", "range": entry["range"], "new_text": "4"}]


def test_json_is_a_list_even_when_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, write("config.json", GOOD)) == []


def test_an_absent_key_is_shown_at_the_nearest_thing_written(capsys: pytest.CaptureFixture[str]) -> None:
    (entry,) = as_json(capsys, write("config.json", '{\n  "model_type": "llama",\n  "num_key_value_heads": 8\n}\n'))
    assert entry["pointer"] == "/architectures"
    assert entry["range"]["start"] == {"line": 1, "column": 1}


def test_columns_are_code_points(capsys: pytest.CaptureFixture[str]) -> None:
    text = '{"note": "\N{GRINNING FACE}\u2028中", "model_type": "llama", "num_key_value_heads": 6, '
    text += '"architectures": ["LlamaForCausalLM"]}'
    (entry,) = as_json(capsys, write("config.json", text))
    start = text.index(": 6") + 3
    assert entry["range"] == {"start": {"line": 1, "column": start}, "end": {"line": 1, "column": start + 1}}


def test_full_output_has_an_excerpt_with_a_caret(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = check(capsys, write("config.json", BAD))
    lines = out.splitlines()
    assert lines[0].startswith("error[kv-heads-indivisible] 32 attention heads cannot share 6 KV heads")
    assert lines[1] == "  --> config.json:4:26"
    assert lines[3] == ' 4 |   "num_key_value_heads": 6'
    assert lines[4] == "   |                          ^"
    assert lines[-1] == "Found 1 error in 1 file."


def test_concise_output(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = check(capsys, write("config.json", FIXABLE), "--output-format", "concise", "--quiet")
    (line,) = out.splitlines()
    assert line.startswith("config.json:4:3: warning[misspelled-key] [*] unknown key vocab_siez")


def test_colour(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write("config.json", BAD)
    assert "\x1b[" not in check(capsys, "config.json")[1]
    assert "\x1b[" in check(capsys, "config.json", "--color", "always")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in check(capsys, "config.json")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in check(capsys, "config.json")[1]


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "it is empty"), ("null", "no JSON object"), ("[1, 2]", "no JSON object"), ('{"port": 80}', "no model")],
)
def test_a_named_file_that_is_not_ours_is_mentioned(capsys: pytest.CaptureFixture[str], text: str, why: str) -> None:
    write("config.json", text)
    status, _, err = check(capsys, "config.json")
    assert (status, why in err) == (0, True)
    assert check(capsys, ".")[2] == ""


def test_a_damaged_model_type_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    write("config.json", '{"model_type":}')
    status, out, _ = check(capsys, "config.json")
    assert status == 1
    assert "json-syntax" in out


def test_fix_writes_the_file_and_keeps_everything_else(capsys: pytest.CaptureFixture[str]) -> None:
    write("config.json", FIXABLE.replace("\n", "\r\n"))
    status, out, err = check(capsys, "config.json", "--fix")
    assert Path("config.json").read_bytes().decode() == FIXABLE.replace("vocab_siez", "vocab_size").replace(
        "\n", "\r\n"
    )
    assert status == 0
    assert "All clear" in out
    assert "Fixed 1 finding" in err


def test_unsafe_fixes_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace('"num_key_value_heads"', '"num_kv_heads"').replace("{", '{\n  "num_hidden_layers": 8,', 1)
    write("config.json", text)
    check(capsys, "config.json", "--fix")
    assert Path("config.json").read_text() == text
    check(capsys, "config.json", "--fix", "--unsafe-fixes")
    assert Path("config.json").read_text() == text.replace("num_kv_heads", "num_key_value_heads")


def test_diff_shows_and_does_not_write(capsys: pytest.CaptureFixture[str]) -> None:
    write("config.json", FIXABLE)
    status, out, _ = check(capsys, "config.json", "--diff")
    assert status == 1
    assert '-  "vocab_siez": 64000,\n+  "vocab_size": 64000,\n' in out
    assert Path("config.json").read_text() == FIXABLE
    write("config.json", GOOD)
    assert check(capsys, "config.json", "--diff")[:2] == (0, "")
    assert check(capsys, "config.json", "--diff", "--fix")[0] == 2


def test_stdin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def feed(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    feed(BAD)
    assert as_json(capsys, "-")[0]["file"] == "-"
    feed(BAD)
    assert as_json(capsys, "-", "--stdin-filename", "models/config.json")[0]["file"] == "models/config.json"
    feed(FIXABLE)
    status, out, _ = check(capsys, "-", "--fix")
    assert (status, out) == (0, FIXABLE.replace("vocab_siez", "vocab_size"))


def test_select_and_ignore(capsys: pytest.CaptureFixture[str]) -> None:
    write("config.json", INFO.replace(": 8,", ": 6,"))
    rules = [entry["rule"] for entry in as_json(capsys, "config.json")]
    assert rules == ["kv-heads-indivisible", "leftover-runtime-flag"]
    assert [entry["rule"] for entry in as_json(capsys, "config.json", "--select", "hygiene")] == rules[1:]
    assert [entry["rule"] for entry in as_json(capsys, "config.json", "--ignore", "hygiene,security")] == rules[:1]
    assert [entry["rule"] for entry in as_json(capsys, "config.json", "--ignore", "use-cache-off")] == rules[:1]
    assert as_json(capsys, "config.json", "--select", "hygiene", "--ignore", "leftover-runtime-flag") == []


def test_folders_are_walked(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".git").mkdir()
    write(".gitignore", "scratch/\n*.tmp.json\n!keep.tmp.json\n")
    write("a/config.json", BAD)
    write("a/deep/generation_config.json", '{"temperature": 0.5}')
    write("scratch/config.json", BAD)
    write("node_modules/x/config.json", BAD)
    write("a/config.tmp.json", BAD)
    write("web/config.json", '{"port": 8080, "theme": {"num_key_value_heads": 6}}')
    write("a/vocab.json", BAD)
    found = [entry["file"] for entry in as_json(capsys, ".")]
    assert found == ["./a/config.json", "./a/deep/generation_config.json"]
    assert [entry["file"] for entry in as_json(capsys, "a")] == ["a/config.json", "a/deep/generation_config.json"]
    assert [entry["file"] for entry in as_json(capsys, "scratch/config.json")] == ["scratch/config.json"]
    assert len(as_json(capsys, ".", "a", "a/config.json")) == 2


def test_files_that_are_not_ours_give_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    write("config.json", '{"port": 8080, "hidden_szie": 3}')
    write("package.json", "{ not json")
    status, out, _ = check(capsys, "config.json", "package.json")
    assert status == 0
    assert "Found" not in out


def test_a_config_that_is_no_json_is_an_error_on_line_1(capsys: pytest.CaptureFixture[str]) -> None:
    (entry,) = as_json(capsys, write("config.json", "<!doctype html>\n<html></html>\n"))
    assert (entry["rule"], entry["severity"], entry["range"]["start"]["line"]) == ("json-syntax", "error", 1)
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    (entry,) = as_json(capsys, write("generation_config.json", pointer))
    assert (entry["rule"], entry["range"]["start"]["line"]) == ("json-syntax", 1)


def test_bytes_that_are_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    Path("config.json").write_bytes(b'{"model_type": "llama", "_name_or_path": "\xff"}')
    assert "json-syntax" in [entry["rule"] for entry in as_json(capsys, "config.json")]
    check(capsys, "config.json")


def test_a_rule_that_crashes_is_one_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = discovery.load("heads-indivisible")
    monkeypatch.setattr(rule, "check", lambda context: [1 / 0])  # noqa: ARG005
    entries = as_json(capsys, write("config.json", BAD))
    assert [entry["rule"] for entry in entries] == ["internal-error", "kv-heads-indivisible"]
    assert "heads-indivisible" in entries[0]["message"]
    assert check(capsys, "config.json")[0] == 2


def test_settings_of_the_nearest_file(capsys: pytest.CaptureFixture[str]) -> None:
    write("a/config.json", BAD)
    write("a/b/config.json", BAD)
    write("pyproject.toml", '[tool.neurarch-lsp.severity]\nkv-heads-indivisible = "info"\n')
    write("a/b/neurarch-lsp.toml", 'ignore = ["kv-heads-indivisible"]\n')
    assert [(entry["file"], entry["severity"]) for entry in as_json(capsys, ".")] == [("./a/config.json", "info")]
    assert len(as_json(capsys, ".", "--config", "pyproject.toml")) == 2


def test_ignores_by_file_rule_and_pointer(capsys: pytest.CaptureFixture[str]) -> None:
    write("old/config.json", BAD)
    write("new/config.json", BAD)
    entry = '[[ignores]]\nfile = "old/*.json"\nrule = "kv-heads-indivisible"\npointer = "{}"\n'
    write("neurarch-lsp.toml", entry.format("/num_key_value_heads"))
    assert [entry["file"] for entry in as_json(capsys, ".")] == ["./new/config.json"]
    write("neurarch-lsp.toml", entry.format("/vocab_size"))
    rules = [entry["rule"] for entry in as_json(capsys, ".")]
    assert rules == ["kv-heads-indivisible", "kv-heads-indivisible", "unused-suppression"]


def test_a_broken_settings_file_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    write("config.json", GOOD)
    for text, message in (
        ("selcet = []", "selcet: unknown key"),
        ('select = ["heads-indivisble"]', "did you mean 'heads-indivisible'"),
        ("select = [", "not valid TOML"),
        ("[serving]\ntensor-parallel = 0", "serving.tensor-parallel"),
    ):
        write("neurarch-lsp.toml", text)
        status, _, err = check(capsys, "config.json")
        assert status == 2
        assert message in err
        assert "neurarch-lsp.toml" in err


def test_exclude(capsys: pytest.CaptureFixture[str]) -> None:
    write("third_party/config.json", BAD)
    write("neurarch-lsp.toml", 'exclude = ["third_party"]\n')
    assert as_json(capsys, ".") == []
    assert as_json(capsys, "third_party/config.json") == []


def test_the_command_starts_from_anywhere(tmp_path: Path) -> None:
    write("config.json", BAD)
    done = subprocess.run(
        [sys.executable, "-m", "neurarch_lsp", "--check", "config.json"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )
    assert done.returncode == 1
    assert b"kv-heads-indivisible" in done.stdout


def test_rules_and_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rules"]) == 0
    listed = capsys.readouterr().out
    assert len(listed.splitlines()) == len(discovery.rule_names())
    assert main(["--rules", "--output-format", "json"]) == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)] == list(discovery.rule_names())
    assert main(["--explain", "token-id-range"]) == 0
    assert capsys.readouterr().out.startswith("# token-id-out-of-range")
    assert main(["--explain", "heads-indivisble"]) == 2
    assert "did you mean heads-indivisible?" in capsys.readouterr().err
