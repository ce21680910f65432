"""Workers stand aside while the event loop has messages to handle.

All threads share one interpreter lock. A loop that competes for it with busy workers gets it back a moment later each
time it has read, written or waited, a dozen times for one message; when they step aside, once.
"""

from __future__ import annotations

import asyncio
import threading

MOST_SECONDS = 0.02
"""A worker goes on after so long in any case."""
TURNS = 3
"""Turns of the loop from a message to its answer where nothing need be computed: the request's task begins, it ends,
the answer is written."""


class LoopTurn:
    def __init__(self) -> None:
        self._over = threading.Event()
        self._over.set()

    def begin(self) -> None:
        """A message has come. Called on any thread."""
        self._over.clear()

    def end(self) -> None:
        """All messages have been handed to their handlers, which now get their turns. Called on the event loop."""
        self._wait(TURNS)

    def _wait(self, turns: int) -> None:
        if turns:
            asyncio.get_running_loop().call_soon(self._wait, turns - 1)
        else:
            self._over.set()

    def poll(self) -> None:
        """Called on a worker between two steps."""
        if not self._over.is_set():
            self._over.wait(MOST_SECONDS)
