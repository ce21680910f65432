"""pre-commit itself runs both hooks of this repository in a repository that uses them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SHIPPED = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    ".pre-commit-hooks.yaml",
    "server",
    "rules",
    "schemas",
)
GOOD = '{\n  "architectures": ["LlamaForCausalLM"],\n  "model_type": "llama",\n  "num_key_value_heads": 8\n}\n'
BAD = GOOD.replace(": 8", ": 6")
FIXABLE = GOOD.replace('"num_key', '"vocab_siez": 64000,\n  "num_key')
PYTHON = "import torch\n\n\ndef scale(weight: torch.Tensor) -> torch.Tensor:\n    return weight * 2\n"


class Repository:
    """A consumer whose hooks come from a commit of the working tree, away from the user's git and pre-commit."""

    def __init__(self, base: Path) -> None:
        identity = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Test"), ("EMAIL", "test@example.org"))
        }
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))}
        isolated = {"PRE_COMMIT_HOME": str(base / "home"), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.environment = {**kept, **identity, **isolated, "PRE_COMMIT_COLOR": "never"}
        self.hooks, self.folder = base / "hooks", base / "consumer"
        for folder in (self.hooks, self.folder):
            folder.mkdir()
        for name in SHIPPED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.hooks / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, self.hooks / name)
        self.git(self.hooks, "init", "-q")
        self.git(self.hooks, "add", "--all")
        self.git(self.hooks, "commit", "-q", "-m", "A version with hooks")
        self.git(self.folder, "init", "-q")

    def git(self, folder: Path, *arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        done = subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout.strip()

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git(self.folder, "add", "--all")

    def run(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--all-files", *arguments],
            cwd=self.folder,
            env=self.environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    pytest.importorskip("pre_commit")
    made = Repository(tmp_path_factory.mktemp("pre-commit"))
    revision = made.git(made.hooks, "rev-parse", "HEAD")
    # JSON is YAML too.
    hooks = [{"id": "neurarch-lsp-fix"}, {"id": "neurarch-lsp"}]
    config = {"repos": [{"repo": str(made.hooks), "rev": revision, "hooks": hooks}]}
    made.write({".pre-commit-config.yaml": json.dumps(config)})
    return made


def test_hooks_run_for_real(repository: Repository) -> None:
    """One environment is built, for both hooks; afterwards a run costs what the program costs."""
    repository.write({"model/config.json": GOOD, "app/config.json": '{"port": 80}', "model.py": PYTHON})
    status, output = repository.run()
    assert status == 0, output
    assert output.count("Passed") == 2, output

    repository.write({"model/config.json": BAD})
    status, output = repository.run("neurarch-lsp")
    assert status == 1, output
    assert "error[kv-heads-indivisible]" in output
    assert "model/config.json:4:26" in output

    repository.write({"model/config.json": FIXABLE})
    status, output = repository.run()
    assert status == 1, output
    assert "files were modified by this hook" in output
    assert "vocab_size" in (repository.folder / "model/config.json").read_text(encoding="utf-8")
    repository.write({})
    assert repository.run()[0] == 0


def test_what_does_not_fail_is_shown(repository: Repository) -> None:
    repository.write({"model/config.json": FIXABLE})
    status, output = repository.run("neurarch-lsp")
    assert (status, "warning[misspelled-key]" in output) == (0, True), output
