"""Where a report's input comes from: nothing that a folder brings along is run on the way."""

from __future__ import annotations

import subprocess
from pathlib import Path

from neurarch_lsp.card import sources


def test_a_repository_that_names_a_command_as_its_remote_does_not_get_it_run(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    git("add", ".")
    git("commit", "-qm", "x")
    blob = git("rev-parse", "HEAD:config.json")
    (tmp_path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    ran = tmp_path / "was-run"
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::sh -c touch% {ran}"),
        ("protocol.ext.allow", "always"),
    ):
        git("config", name, value)
    source = sources.load_revision(f"HEAD:{tmp_path / 'config.json'}")
    assert source.analysis is None
    assert not ran.exists()
