"""Formats for machines, baselines, suppression entries, caching and parallel runs."""

from __future__ import annotations

import json
import os
import pickle
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import neurarch_lsp
import neurarch_rules
import neurarch_schemas
from neurarch_lsp.__main__ import main
from neurarch_lsp.linting import batch, cache
from neurarch_lsp.linting.lint import lint, read_text
from neurarch_rules.engine.options import Options

GOOD = '{\n  "architectures": ["LlamaForCausalLM"],\n  "model_type": "llama",\n  "num_key_value_heads": 8\n}\n'
BAD = GOOD.replace(": 8", ": 6")
WARNING = GOOD.replace('"num_key', '"vocab_siez": 64000,\n  "num_key')


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def write(path: str, text: str) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(text.encode("utf-8"))
    return path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["--check", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_sarif(capsys: pytest.CaptureFixture[str]) -> None:
    write("a/config.json", BAD)
    write("b c/config.json", WARNING)
    status, out, _ = check(capsys, ".", "--output-format", "sarif")
    log = json.loads(out)
    assert status == 1
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == ["kv-heads-indivisible", "misspelled-key"]
    first, second = run["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == ("kv-heads-indivisible", 0, "error")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a/config.json"
    assert place["region"] == {"startLine": 4, "startColumn": 26, "endLine": 4, "endColumn": 27}
    assert first["relatedLocations"][0]["message"]["text"]
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "b%20c/config.json"
    replacement = second["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replacement["insertedContent"]["text"] == '"vocab_size"'
    assert len({result["partialFingerprints"]["neurarch/v1"] for result in run["results"]}) == 2


def test_fingerprints_do_not_depend_on_lines(capsys: pytest.CaptureFixture[str]) -> None:
    def prints(text: str) -> list[str]:
        write("config.json", text)
        log = json.loads(check(capsys, "config.json", "--output-format", "sarif")[1])
        return [result["partialFingerprints"]["neurarch/v1"] for result in log["runs"][0]["results"]]

    assert prints(BAD) == prints(BAD.replace("{\n", '{\n\n  "note": 1,\n', 1))


def test_github(capsys: pytest.CaptureFixture[str]) -> None:
    write("a,b/config.json", BAD)
    out = check(capsys, ".", "--output-format", "github")[1]
    assert out.startswith("::error title=neurarch-lsp (kv-heads-indivisible),file=a%2Cb/config.json,line=4,col=26,")
    assert "7 %25" not in out.split("::")[1]
    assert "32 %25 6 = 2" in out


def test_gitlab(capsys: pytest.CaptureFixture[str]) -> None:
    write("a/config.json", BAD)
    (entry,) = json.loads(check(capsys, ".", "--output-format", "gitlab")[1])
    assert entry["check_name"] == "kv-heads-indivisible"
    assert entry["severity"] == "critical"
    assert entry["location"] == {"path": "a/config.json", "lines": {"begin": 4, "end": 4}}
    assert len(entry["fingerprint"]) == 32


def test_junit(capsys: pytest.CaptureFixture[str]) -> None:
    write("a&b/config.json", BAD)
    write("clean/config.json", GOOD)
    root = ElementTree.fromstring(check(capsys, ".", "--output-format", "junit")[1])
    assert root.attrib == {"name": "neurarch-lsp", "tests": "2", "failures": "1"}
    bad, clean = root.findall("testsuite")
    assert bad.attrib["name"] == "./a&b/config.json"
    failure = bad.find("testcase/failure")
    assert failure is not None
    assert failure.text == "./a&b/config.json:4:26"
    assert clean.find("testcase/failure") is None


def test_baseline_hides_what_was_there_and_survives_edits(capsys: pytest.CaptureFixture[str]) -> None:
    write("a/config.json", BAD)
    status, out, err = check(capsys, ".", "--write-baseline", "baseline.json")
    assert (status, out) == (0, "")
    assert "Wrote 1 finding" in err
    assert check(capsys, ".", "--baseline", "baseline.json")[0] == 0
    write("a/config.json", BAD.replace("{\n", '{\n  "note": 1,\n', 1))
    assert check(capsys, ".", "--baseline", "baseline.json")[0] == 0
    write("b/config.json", BAD)
    status, out, _ = check(capsys, ".", "--baseline", "baseline.json", "--output-format", "json")
    assert status == 1
    assert [entry["file"] for entry in json.loads(out)] == ["./b/config.json"]
    assert check(capsys, ".", "--baseline", "absent.json")[0] == 2
    write("baseline.json", "[]")
    assert check(capsys, ".", "--baseline", "baseline.json")[0] == 2


@pytest.mark.parametrize("settings", ["neurarch-lsp.toml", "pyproject.toml"])
def test_add_ignores(capsys: pytest.CaptureFixture[str], settings: str) -> None:
    write("models/config.json", BAD)
    write("config.json", WARNING)
    before = "" if settings == "neurarch-lsp.toml" else '[project]\nname = "x"\n\n[tool.neurarch-lsp]\nexclude = ["y"]'
    if before:
        write(settings, before)
    status, _, err = check(capsys, ".", "--add-ignores", "as published")
    assert status == 0
    assert settings in err
    text = Path(settings).read_text()
    assert text.startswith(before)
    data = tomllib.loads(text)
    table = data if settings == "neurarch-lsp.toml" else data["tool"]["neurarch-lsp"]
    assert table["ignores"] == [
        {"file": "/config.json", "rule": "misspelled-key", "pointer": "/vocab_siez", "reason": "as published"},
        {
            "file": "models/config.json",
            "rule": "kv-heads-indivisible",
            "pointer": "/num_key_value_heads",
            "reason": "as published",
        },
    ]
    assert check(capsys, ".", "--output-format", "json")[1] == "[]\n"


def test_nothing_is_ignored_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    write("config.json", WARNING.rstrip().removesuffix("}") + ",}")
    status, _, err = check(capsys, "config.json", "--add-ignores", "later")
    assert status == 0
    assert "Left as it is" in err
    assert "json-syntax" not in Path("neurarch-lsp.toml").read_text()
    assert check(capsys, "config.json")[0] == 1


def test_unused_suppressions_are_reported_at_their_entry(capsys: pytest.CaptureFixture[str]) -> None:
    write("models/config.json", GOOD)
    write(
        "neurarch-lsp.toml",
        'exclude = ["x"]\n\n[[ignores]]\nfile = "models/*"\nrule = "kv-heads-indivisible"\n\n'
        '[[ignores]]\nfile = "elsewhere/*"\nrule = "remote-code"\n',
    )
    (entry,) = json.loads(check(capsys, ".", "--output-format", "json")[1])
    assert (entry["rule"], entry["file"], entry["pointer"]) == ("unused-suppression", "neurarch-lsp.toml", None)
    assert entry["range"]["start"] == {"line": 3, "column": 1}
    assert check(capsys, ".", "--select", "training", "--output-format", "json")[1] == "[]\n"
    assert "silences nothing" in check(capsys, ".")[1]


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    write("a/config.json", BAD)
    write("b/config.json", BAD)
    write("c/config.json", WARNING)
    lines = check(capsys, ".", "--statistics")[1].splitlines()
    assert lines == ["2  error   kv-heads-indivisible", "1  warning misspelled-key [*]"]
    entries = json.loads(check(capsys, ".", "--statistics", "--output-format", "json")[1])
    assert entries[0] == {"rule": "kv-heads-indivisible", "severity": "error", "count": 2, "fixable": False}


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    write("a/config.json", BAD)
    write("a/generation_config.json", '{"do_sample": true}')
    write("web/config.json", '{"port": 1}')
    assert check(capsys, ".", "--show-files")[1].split() == [
        *("config", "./a/config.json", "generation_config", "./a/generation_config.json"),
    ]
    write("neurarch-lsp.toml", 'ignore = ["hygiene"]')
    entries = json.loads(check(capsys, "a/config.json", "--show-settings")[1])
    assert entries[0]["settings"]["ignore"] == ["hygiene"]
    assert "legacy-key" not in entries[0]["rules"]
    timing = check(capsys, "a/config.json", "--show-timing")[2]
    assert "kv-heads-indivisible" in timing
    assert "(shared) module tree" in timing


def many(count: int) -> list[str]:
    return [write(f"m{number:02}/config.json", (GOOD, BAD, WARNING)[number % 3]) for number in range(count)]


def results(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(check(capsys, ".", "--output-format", "json", *arguments)[1])
    return found


def test_jobs_give_the_same_findings_in_the_same_order(capsys: pytest.CaptureFixture[str]) -> None:
    many(20)
    assert results(capsys, "--jobs", "2", "--no-cache") == results(capsys, "--no-cache")
    assert main(["--check", ".", "--jobs", "-1"]) == 2


def test_the_same_file_again_is_found_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    linted: list[str] = []
    monkeypatch.setattr(batch, "lint", lambda *given, **named: linted.append(given[0]) or lint(*given, **named))
    for number in range(20):
        write(f"m{number:02}/config.json", BAD if number % 2 else GOOD)
    found = results(capsys, "--no-cache")
    assert linted == ["./m00/config.json", "./m01/config.json"]
    assert [entry["file"] for entry in found] == [f"./m{number:02}/config.json" for number in range(1, 20, 2)]
    assert found == results(capsys, "--no-cache", "--jobs", "2")  # where nothing is remembered
    write("m02/generation_config.json", "{}")  # what lies beside a file, or another setting, may change what is found
    write("m04/neurarch-lsp.toml", "")
    write("m05/neurarch-lsp.toml", 'ignore = ["kv-heads-indivisible"]')
    linted.clear()
    assert [entry["file"] for entry in results(capsys, "--no-cache")] == [
        f"./m{number:02}/config.json" for number in range(1, 20, 2) if number != 5
    ]
    assert {"./m02/config.json", "./m04/config.json", "./m05/config.json"} < set(linted)


def test_cache_gives_the_same_findings(capsys: pytest.CaptureFixture[str]) -> None:
    many(20)
    fresh = results(capsys, "--no-cache")
    assert not Path("cache").exists()
    assert results(capsys) == fresh
    assert len(list(Path("cache").rglob("*.json"))) == 20
    assert results(capsys) == fresh
    assert results(capsys, "--ignore", "misspelled-key") == [e for e in fresh if e["rule"] != "misspelled-key"]


def test_cache_is_never_stale(capsys: pytest.CaptureFixture[str]) -> None:
    many(20)
    before = len(results(capsys))
    write("m00/config.json", BAD)
    assert len(results(capsys)) == before + 1
    write("m03/added_tokens.json", '{"<extra>": 40000}')
    assert "tokenizer-larger-than-vocab" in [entry["rule"] for entry in results(capsys)]
    write("neurarch-lsp.toml", 'ignore = ["kv-heads-indivisible"]')
    assert "kv-heads-indivisible" not in [entry["rule"] for entry in results(capsys)]
    for entry in Path("cache").rglob("*.json"):
        entry.write_text("{")
    assert "kv-heads-indivisible" not in [entry["rule"] for entry in results(capsys)]


def test_cache_knows_the_base_of_an_adapter() -> None:
    text = '{"peft_type": "LORA", "base_model_name_or_path": "../base"}'
    path = write("adapter/adapter_config.json", text)
    store = cache.Cache("cache")
    keys = [store.key(path, text, Options())]
    for base in (GOOD, BAD + " "):
        write("base/config.json", base)
        keys.append(store.key(path, text, Options()))
    assert len(set(keys)) == 3


def test_cache_knows_when_this_program_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("config.json", GOOD)
    store = cache.Cache("cache")
    key = store.key(path, GOOD, Options())
    monkeypatch.setattr(store, "program", "another version")
    assert store.key(path, GOOD, Options()) != key


@pytest.mark.parametrize(
    "package", [neurarch_schemas, neurarch_rules, neurarch_lsp], ids=lambda package: package.__name__
)
def test_cache_knows_when_any_file_of_this_program_changes(package: ModuleType) -> None:
    folder = Path(package.__file__ or "").parent
    files = {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {Path(line.rsplit(" ", 2)[0]) for line in cache.stamps(str(folder))} == files


def test_json_is_spelled_as_the_standard_library_spells_it(capsys: pytest.CaptureFixture[str]) -> None:
    folder = 'ä "quoted" \u2028'
    write(f"{folder}/config.json", BAD)
    write("clean/config.json", GOOD)
    for path in (folder, "clean"):
        out = check(capsys, path, "--output-format", "json")[1]
        assert out == json.dumps(json.loads(out), indent=2) + "\n"


def test_outcomes_are_picklable() -> None:
    path = write("config.json", BAD)
    outcome = lint(path, path, read_text(path), Options())
    again = pickle.loads(pickle.dumps(outcome))
    assert again.report.findings == outcome.report.findings  # type: ignore[union-attr]


def test_plugins_are_rules_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        "lib/house_rules.py",
        "from types import SimpleNamespace\n"
        "from neurarch_rules.engine.finding import Finding, Place\n"
        "from neurarch_rules.engine.rule import RuleInfo\n"
        "INFO = RuleInfo('no-llamas', 'warning', 'hygiene', 'House rule')\n"
        "def check(context):\n"
        "    yield Finding('no llamas here', Place('/model_type'))\n"
        "def rules():\n"
        "    return [SimpleNamespace(RULE=INFO, check=check)]\n",
    )
    write("lib/house_rules-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    write("lib/house_rules-1.0.dist-info/entry_points.txt", "[neurarch_lsp.rules]\nhouse = house_rules:rules\n")
    monkeypatch.syspath_prepend(os.path.abspath("lib"))
    monkeypatch.delitem(sys.modules, "house_rules", raising=False)
    write("config.json", GOOD)
    assert results(capsys) == []
    write("neurarch-lsp.toml", 'plugins = ["house"]\n[severity]\nno-llamas = "error"\n')
    (entry,) = results(capsys)
    assert (entry["rule"], entry["severity"]) == ("no-llamas", "error")


def test_tasks_keep_their_order() -> None:
    paths = many(5)
    tasks = [batch.Task(path, path, path, Options()) for path in reversed(paths)]
    assert [done.task.name for done in batch.run(tasks, jobs=2)] == list(reversed(paths))
