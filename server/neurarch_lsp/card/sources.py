"""Where a report's input comes from: a file, standard input, a folder, the local Hugging Face cache, a git revision."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from neurarch_lsp.card.python_report import is_python, split
from neurarch_rules.engine.analyse import analyse_text
from neurarch_schemas.analysis import Analysis
from neurarch_schemas.record import Record

REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
GIT_SECONDS = 20
NO_CONFIGURATION = "not a model configuration"
NOTHING_FETCHED = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
"""A repository may name, for objects it lacks, a remote that is any command of its own: git must not ask it."""


class Source(Record):
    """``name`` as given; ``analysis``, or ``error`` where nothing can be said; ``missing``: there is no such input."""

    name: str
    analysis: Analysis | None
    error: str | None = None
    missing: bool = False
    python: bool = False
    """A Python file, or one with an expression behind a colon: read by the interpreter, not as a config."""


def load(name: str, stdin_filename: str | None = None) -> Source:
    """A file, "-", or ORG/NAME in the local Hugging Face cache."""
    if is_python(name):
        missing = not os.path.isfile(split(name)[0])
        error = "cannot be read: No such file or directory" if missing else None
        return Source(name, None, error, missing, python=True)
    if name == "-":
        return _analysed(name, stdin_filename or "config.json", sys.stdin.buffer.read())
    path = name
    if not os.path.exists(name) and REPOSITORY.fullmatch(name):
        cached = cached_config(name)
        if cached is None:
            how = f"`hf download {name} config.json` puts it there"
            return Source(name, None, f"is no file, and not in the local Hugging Face cache; {how}", missing=True)
        path = cached
    if os.path.exists(path) and not os.path.isfile(path):
        return Source(name, None, "cannot be read: not a regular file", missing=True)
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        return Source(name, None, f"cannot be read: {error.strerror or error}", missing=True)
    return _analysed(name, path, data)


def load_revision(name: str) -> Source:
    """As ``load``; also REV:FILE, the file as git has it at a revision."""
    revision, colon, file = name.partition(":")
    if os.path.exists(name) or not colon or not revision or not file or (os.name == "nt" and len(revision) == 1):
        return load(name)
    folder = os.path.dirname(os.path.abspath(file))
    command = ["git", "-C", folder, "show", "--end-of-options", f"{revision}:./{os.path.basename(file)}"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            timeout=GIT_SECONDS,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **NOTHING_FETCHED},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Source(name, None, f"git could not be asked: {error}", missing=True)
    if done.returncode:
        return Source(name, None, f"git: {done.stderr.decode(errors='replace').strip()}", missing=True)
    return _analysed(name, file, done.stdout)


def cached_config(repository: str) -> str | None:
    """config.json of the revision last fetched as main, else of any snapshot; None when there is none."""
    folder = os.path.join(cache_folder(), "models--" + repository.replace("/", "--"))
    snapshots = os.path.join(folder, "snapshots")
    revisions: list[str] = []
    try:
        with open(os.path.join(folder, "refs", "main"), encoding="utf-8") as stream:
            revisions.append(stream.read().strip())
    except OSError:
        pass
    try:
        revisions += sorted(os.listdir(snapshots))
    except OSError:
        return None
    for revision in revisions:
        path = os.path.join(snapshots, revision, "config.json")
        if os.path.isfile(path):
            return path
    return None


def cache_folder() -> str:
    """The hub cache, by the variables huggingface_hub reads, in its order."""
    environment = os.environ
    if environment.get("HF_HUB_CACHE"):
        return environment["HF_HUB_CACHE"]
    home = environment.get("HF_HOME") or os.path.join(
        environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "huggingface"
    )
    return os.path.join(home, "hub")


def configs_below(folder: str) -> list[str]:
    """Every file below a folder that may be a model's configuration, in order; hidden folders left out."""
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        found += [os.path.join(place, name) for name in sorted(files) if name in ("config.json", "params.json")]
    return found


def _analysed(name: str, path: str, data: bytes) -> Source:
    analysis = analyse_text(path, data.decode("utf-8", errors="replace"))
    if analysis is None:
        return Source(name, None, NO_CONFIGURATION)
    if analysis.config is None and analysis.adapter is None:
        return Source(name, None, "the file describes no model")
    return Source(name, analysis)
