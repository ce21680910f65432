"""The scheduler: newest version wins, stale results are dropped, nothing waits for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from neurarch_lsp.lsp.scheduler import Scheduler, Ticket

pytestmark = pytest.mark.asyncio


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


class Work:
    """Jobs are names; one named "slow" waits until it is superseded or let go."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.at_once = 0
        self.most_at_once = 0
        self.release = threading.Event()
        self.entered = threading.Event()
        self._lock = threading.Lock()

    def __call__(self, job: str, ticket: Ticket) -> str:
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.ran.append(job)
            if job == "error":
                raise ValueError(job)
            if job == "slow":
                self.entered.set()
                while not self.release.wait(0.002):
                    ticket.poll()
            return job
        finally:
            with self._lock:
                self.at_once -= 1


async def test_one_job_one_result(pool: ThreadPoolExecutor) -> None:
    scheduler = Scheduler(pool, Work())
    scheduler.submit("a", "1")
    assert await scheduler.newest("a") == "1"
    assert await scheduler.newest("a") == "1"
    assert await scheduler.newest("unknown") is None


async def test_those_who_wait_get_the_newest(pool: ThreadPoolExecutor) -> None:
    work = Work()
    scheduler = Scheduler(pool, work)
    scheduler.submit("a", "slow")
    waiting = [asyncio.create_task(scheduler.newest("a")) for _ in range(5)]
    await asyncio.to_thread(work.entered.wait, 5)
    for number in range(100):
        scheduler.submit("a", str(number))
    assert await asyncio.wait_for(asyncio.gather(*waiting), 5) == ["99"] * 5
    assert work.ran == ["slow", "99"]
    assert work.most_at_once == 1


async def test_a_superseded_result_is_never_seen(pool: ThreadPoolExecutor) -> None:
    work = Work()
    scheduler = Scheduler(pool, work)
    scheduler.submit("a", "slow")
    await asyncio.to_thread(work.entered.wait, 5)
    scheduler.submit("a", "new")
    assert scheduler.finished("a") is None
    work.release.set()
    assert await asyncio.wait_for(scheduler.newest("a"), 5) == "new"
    assert scheduler.finished("a") == "new"


async def test_documents_do_not_wait_for_each_other(pool: ThreadPoolExecutor) -> None:
    work = Work()
    scheduler = Scheduler(pool, work)
    scheduler.submit("a", "slow")
    await asyncio.to_thread(work.entered.wait, 5)
    scheduler.submit("b", "quick")
    assert await asyncio.wait_for(scheduler.newest("b"), 5) == "quick"
    work.release.set()
    assert await asyncio.wait_for(scheduler.newest("a"), 5) == "slow"


async def test_closing_frees_those_who_wait(pool: ThreadPoolExecutor) -> None:
    work = Work()
    scheduler = Scheduler(pool, work)
    scheduler.submit("a", "slow")
    waiting = asyncio.create_task(scheduler.newest("a"))
    await asyncio.to_thread(work.entered.wait, 5)
    scheduler.forget("a")
    assert await asyncio.wait_for(waiting, 5) is None


async def test_cancelling_one_who_waits_leaves_the_job_to_the_others(pool: ThreadPoolExecutor) -> None:
    work = Work()
    scheduler = Scheduler(pool, work)
    scheduler.submit("a", "slow")
    first, second = (asyncio.create_task(scheduler.newest("a")) for _ in range(2))
    await asyncio.to_thread(work.entered.wait, 5)
    first.cancel()
    work.release.set()
    assert await asyncio.wait_for(second, 5) == "slow"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_an_error_is_raised_and_the_next_job_works(pool: ThreadPoolExecutor) -> None:
    scheduler = Scheduler(pool, Work())
    scheduler.submit("a", "error")
    with pytest.raises(ValueError, match="error"):
        await scheduler.newest("a")
    scheduler.submit("a", "fine")
    assert await scheduler.newest("a") == "fine"
