"""Read one file, lint it, and repair it: what --check does for each input, without any output."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from neurarch_lsp.render.report import FileReport
from neurarch_rules.engine import analyse
from neurarch_rules.engine.run import Crash, Result, internal_error, run

if TYPE_CHECKING:
    from neurarch_rules.engine.finding import Applicability, Finding
    from neurarch_rules.engine.options import Options
    from neurarch_schemas.documents.json_document import JsonDocument
    from neurarch_schemas.documents.python_document import PythonDocument
    from neurarch_schemas.surroundings.folders_above import FoldersAbove

MAX_BYTES = 50_000_000
"""A larger file is no config; it is not read."""


class CannotRead(Exception):
    """The file cannot be opened; ``str(error)`` says why."""


class Outcome(NamedTuple):
    """``report`` is None for a file that is not ours; ``before`` and ``after`` differ where fixes changed the text."""

    report: FileReport | None
    result: Result | None = None
    before: str = ""
    after: str = ""
    applied: tuple[str, ...] = ()


def read_text(path: str) -> str:
    """The file's text, line ends untouched; bytes that are not UTF-8 become lone surrogates and survive a rewrite."""
    try:
        if path == "-":
            return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise CannotRead("not a regular file")
        if found.st_size > MAX_BYTES:
            raise CannotRead(f"larger than {MAX_BYTES // 1_000_000} MB")
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise CannotRead(error.strerror or str(error)) from error


def write_text(path: str, text: str) -> None:
    """Through a file beside it, so that a full disk never costs the old text. Raises OSError."""
    target = os.path.realpath(path)
    beside = f"{target}.neurarch-{os.getpid()}"
    try:
        with open(beside, "xb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        os.chmod(beside, os.stat(target).st_mode & 0o7777)
        os.replace(beside, target)
    except OSError:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def lint(
    name: str,
    path: str,
    text: str,
    options: Options,
    applicabilities: tuple[Applicability, ...] = (),
    clock: Callable[[], float] | None = None,
    folders_above: FoldersAbove | None = None,
) -> Outcome:
    """Findings of one text shown as ``name``; with ``applicabilities`` also the text after fixes, linted again.

    ``folders_above`` is shared by the files of one run.
    """
    before = text
    applied: tuple[str, ...] = ()

    def again(text: str) -> tuple[Finding, ...]:
        analysis = analyse.analyse_text(path, text, folders_above)
        return () if analysis is None else run(analysis, options).findings

    try:
        if applicabilities:
            from neurarch_rules.engine.fixes import fix_text

            fixed = fix_text(text, again, applicabilities)
            text, applied = fixed.text, fixed.applied
        analysis = analyse.analyse_text(path, text, folders_above)
    except Exception as error:  # one file must not end the run
        return _failed(name, path, text, error)
    if analysis is None:
        return Outcome(None, None, before, text, applied)
    result = run(analysis, options, clock=clock)
    report = FileReport(name, analysis.document, result.findings, Siblings(path))
    return Outcome(report, result, before, text, applied)


def _failed(name: str, path: str, text: str, error: Exception) -> Outcome:
    """A defect of ours while reading the file: one finding, and no text is changed."""
    finding = internal_error("reading", f"{type(error).__name__}: {error}")
    report = FileReport(name, analyse.parse(path, ""), (finding,))
    return Outcome(report, Result((finding,), crashes=(Crash("reading", error),)), text, text)


class Siblings:
    """Documents of files beside ``path``, read when a finding points into one."""

    def __init__(self, path: str) -> None:
        self.folder = os.path.dirname(path)
        self.known: dict[str, JsonDocument | PythonDocument | None] = {}

    def __call__(self, name: str) -> JsonDocument | PythonDocument | None:
        if name not in self.known:
            path = os.path.join(self.folder, name)
            try:
                self.known[name] = analyse.parse(path, read_text(path))
            except CannotRead:
                self.known[name] = None
        return self.known[name]
