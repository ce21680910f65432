"""Interprets Python model code in a process of its own.

The interpreter is pure Python, and parsing a long file is one call into C: on a thread of the server both would hold
the interpreter lock for hundreds of milliseconds, and a hover on another document would wait as long.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from neurarch_lsp.features.python_models import Reading

MOST_SECONDS = 30.0
"""The interpreter has budgets of its own, far below; a child that takes longer is ended."""
COMMAND = (sys.executable, "-P", "-m", "neurarch_lsp.lsp.interpreter_process")
"""``-P``: the working folder may be the user's, and nothing there may be imported."""


class InterpreterProcess:
    """Called on worker threads, one call at a time; the child is started by the first and ends with the server."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None

    def __call__(self, path: str, text: str, search_paths: Sequence[str], only_sound: bool) -> Reading:
        """As ``python_models.read``. Raises RuntimeError when the child fails or ends."""
        child = self._child
        if child is None or child.poll() is not None:
            child = self._child = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        assert child.stdin is not None
        assert child.stdout is not None
        limit = threading.Timer(MOST_SECONDS, child.kill)
        limit.start()
        try:
            pickle.dump((path, text, list(search_paths), only_sound), child.stdin)
            child.stdin.flush()
            answer = pickle.load(child.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self.end()
            raise RuntimeError(f"the interpreter's process ended on {path}") from error
        finally:
            limit.cancel()
        if isinstance(answer, str):
            raise RuntimeError(answer)
        reading: Reading = answer
        return reading

    def end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()


def main() -> None:
    """The child: the pickled arguments of ``read`` in, its result or a traceback out, until the input ends."""
    from neurarch_lsp.features.python_models import read
    from neurarch_lsp.lsp.start import take_stdio
    from neurarch_schemas.interpreter import SourceCache

    source, sink = take_stdio()
    cache = SourceCache(limit=400)
    if hasattr(os, "nice"):
        os.nice(5)  # the server, which answers the person, goes first
    # Syntax trees are many and live long: looking through them for garbage took half of the time.
    gc.disable()
    before = ""
    while (asked := _next(source)) is not None:
        if asked[1] != before:
            cache.forget(before)
            before = asked[1]
        try:
            answer: Reading | str = read(*asked, cache)
        except Exception:
            answer = traceback.format_exc()
        pickle.dump(answer, sink)
        sink.flush()
        gc.collect()


def _next(source: BinaryIO) -> tuple[str, str, list[str], bool] | None:
    try:
        asked: tuple[str, str, list[str], bool] = pickle.load(source)
    except EOFError:
        return None
    return asked


if __name__ == "__main__":
    main()
