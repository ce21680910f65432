"""Interprets Python model code in a process of its own.

The interpreter is pure Python, and parsing a long file is one call into C: on a thread of the server both would hold
the interpreter lock for hundreds of milliseconds, and a hover on another document would wait as long.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from neurarch_schemas.elsewhere import NotDone

logger = logging.getLogger(__name__)

MOST_SECONDS = 30.0
"""The interpreter has budgets of its own, far below; a child that takes longer is ended."""
COMMAND = (sys.executable, "-P", "-m", "neurarch_lsp.lsp.interpreter_process")
"""``-P``: the working folder may be the user's, and nothing there may be imported."""

Question = tuple[Callable[..., Any], tuple[Any, ...]]
Answer = tuple[str | None, Any]
"""The traceback of a failure, or what the function gives."""


class InterpreterProcess:
    """Called on worker threads, which take turns; the child is started by the first and ends with the server."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function(*arguments, cache=...)`` as the child computes it, with the files that it keeps parsed.

        Raises NotDone when the function fails, and when the child does or ends.
        """
        with self._turn:
            failure, value = self._ask((function, arguments))
        if failure is not None:
            logger.error("the interpreter's process failed on %s: %s", arguments[0], failure)
            raise NotDone(failure.rstrip().rpartition("\n")[2])
        return value

    def _ask(self, question: Question) -> Answer:
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
            pickle.dump(question, child.stdin)
            child.stdin.flush()
            answer: Answer = pickle.load(child.stdout)
            return answer
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self.end()
            raise NotDone(f"the interpreter's process ended on {question[1][0]}") from error
        finally:
            limit.cancel()

    def end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()


def main() -> None:
    """The child: pickled functions with arguments in, what they give out, until the input ends."""
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
    while (question := _next(source)) is not None:
        function, arguments = question
        if function is read and arguments[1] != before:
            cache.forget(before)
            before = arguments[1]
        try:
            answer: Answer = (None, function(*arguments, cache=cache))
        except Exception:
            answer = (traceback.format_exc(), None)
        pickle.dump(answer, sink)
        sink.flush()
        gc.collect()


def _next(source: BinaryIO) -> Question | None:
    try:
        question: Question = pickle.load(source)
    except EOFError:
        return None
    return question


if __name__ == "__main__":
    main()
