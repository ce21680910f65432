"""Runs work about documents off the event loop: one job a document at a time, the newest version wins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

Job = TypeVar("Job")
Result = TypeVar("Result")


class Superseded(Exception):
    """Raised inside a job by ``Ticket.poll`` when its result is no longer wanted."""


class Ticket:
    """Given to a running job, which polls it between steps."""

    __slots__ = ("_current", "_key", "generation")

    def __init__(self, key: Hashable, generation: int, current: dict[Hashable, int]) -> None:
        self._key = key
        self._current = current
        self.generation = generation

    @property
    def superseded(self) -> bool:
        return self._current.get(self._key) != self.generation

    def poll(self) -> None:
        """Raise ``Superseded`` when a newer version has arrived or the document was closed."""
        if self.superseded:
            raise Superseded


@dataclass(slots=True)
class _Line(Generic[Job, Result]):
    """The state of one document: what is wanted, what runs, who waits."""

    generation: int
    job: Job
    running: bool = False
    finished: int = -1
    result: Result | None = None
    error: BaseException | None = None
    waiters: list[asyncio.Future[None]] = field(default_factory=list)


class Scheduler(Generic[Job, Result]):
    """All methods are called on the event loop; ``work`` runs in the executor.

    ``submit`` replaces what is wanted for a key. A job that is running for an older generation is told so through its
    ticket, its result is dropped, and the newest job starts when it has ended: never two at once for one document.
    """

    def __init__(self, executor: Executor, work: Callable[[Job, Ticket], Result]) -> None:
        self._executor = executor
        self._work = work
        self._lines: dict[Hashable, _Line[Job, Result]] = {}
        self._current: dict[Hashable, int] = {}
        self._next_generation = 0

    def submit(self, key: Hashable, job: Job) -> int:
        """Want ``job`` for ``key`` from now on; returns the generation, which grows with every call."""
        self._next_generation += 1
        generation = self._next_generation
        self._current[key] = generation
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = _Line(generation, job)
        else:
            line.generation, line.job = generation, job
        if not line.running:
            self._start(key, line)
        return generation

    def forget(self, key: Hashable) -> None:
        """Drop a document: its running job is superseded and those who wait get None."""
        self._current.pop(key, None)
        line = self._lines.pop(key, None)
        if line is not None:
            _wake(line.waiters)

    def finished(self, key: Hashable) -> Result | None:
        """The newest result, if the newest job has ended; never a stale one."""
        line = self._lines.get(key)
        return line.result if line is not None and line.finished == line.generation else None

    async def newest(self, key: Hashable) -> Result | None:
        """Wait for the result of the newest job of ``key``, however often it is replaced meanwhile.

        None when the document is not (or no longer) known. Raises what the job raised. Cancelling the caller does not
        cancel the job, on which others may wait.
        """
        while (line := self._lines.get(key)) is not None:
            if line.finished == line.generation:
                if line.error is not None:
                    raise line.error
                return line.result
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            line.waiters.append(waiter)
            try:
                await waiter
            finally:
                if waiter in line.waiters:
                    line.waiters.remove(waiter)
        return None

    def _start(self, key: Hashable, line: _Line[Job, Result]) -> None:
        generation = line.generation
        line.running = True
        ticket = Ticket(key, generation, self._current)
        future = asyncio.get_running_loop().run_in_executor(self._executor, self._work, line.job, ticket)
        future.add_done_callback(lambda done: self._ended(key, line, generation, done))

    def _ended(self, key: Hashable, line: _Line[Job, Result], generation: int, done: asyncio.Future[Result]) -> None:
        line.running = False
        error = None if done.cancelled() else done.exception()
        if self._lines.get(key) is not line:
            return
        if line.generation != generation:
            self._start(key, line)
            return
        line.finished = generation
        if error is not None:
            line.result, line.error = None, error
            logger.error("analysis of %s failed", key, exc_info=error)
        elif not done.cancelled():
            line.result, line.error = done.result(), None
        _wake(line.waiters)


def _wake(waiters: list[asyncio.Future[None]]) -> None:
    for waiter in waiters:
        if not waiter.done():
            waiter.set_result(None)
    waiters.clear()
