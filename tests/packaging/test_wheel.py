"""The wheel alone, in an empty environment, does the main job; it holds pages and data and nothing recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "heron-moe-230b" / "config.json"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(target), str(ROOT)],
        check=True,
        timeout=300,
    )
    return next(target.glob("neurarch_lsp-*.whl"))


def test_pages_and_data_are_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    rules = ROOT / "rules" / "neurarch_rules" / "rules"
    for page in rules.glob("*.md"):
        assert f"neurarch_rules/rules/{page.name}" in names
    schemas = ROOT / "schemas"
    for data in (schemas / "neurarch_schemas" / "catalogue").rglob("*.json"):
        assert data.relative_to(schemas).as_posix() in names
    assert "neurarch_schemas/architectures/index.json" in names
    assert "neurarch_schemas/py.typed" in names
    assert "neurarch_rules/facts/published_sizes.tsv" in names


def test_no_recorded_totals_are_inside(wheel: Path) -> None:
    """Counts are derived: the totals of the ground truth stand nowhere in what is shipped."""
    archive = zipfile.ZipFile(wheel)
    text = "".join(
        archive.read(name).decode("utf-8", "replace")
        for name in archive.namelist()
        if name.endswith((".py", ".json", ".toml"))
    )
    for total in (228_689_748_992, 427_040_132_864, 671_026_419_200, 6_738_415_616, 20_914_757_184):
        assert str(total) not in text
        assert f"{total:_}" not in text


def test_main_job_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True, timeout=600)
    command = [python, "-m", "neurarch_lsp"]
    report = subprocess.run(
        [*command, "--report", str(EXAMPLE), "--output-format", "json"], capture_output=True, check=True, cwd=tmp_path
    )
    (entry,) = json.loads(report.stdout)
    assert entry["parameters"]["total"] == 228_689_748_992
    assert entry["parameters"]["exact"] is True
    check = subprocess.run(
        [*command, "--check", str(ROOT / "examples"), "--output-format", "json"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )
    assert check.returncode == 1, check.stderr.decode()
    rules = {finding["rule"] for finding in json.loads(check.stdout)}
    assert {"moe-no-aux-loss", "kv-heads-indivisible"} <= rules
    explained = subprocess.run(
        [*command, "--explain", "moe-no-aux-loss"], capture_output=True, check=True, cwd=tmp_path
    )
    assert b"moe-no-aux-loss" in explained.stdout
