"""Limits on one interpretation, so that hostile source ends quickly with a reason instead of a hang."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budgets:
    """What ends first is meant to be a count, which is the same on every machine; times are the last guard.

    ``seconds`` is processor time in evaluation, parsing left aside; ``total_seconds`` is wall time of all of it.
    """

    steps: int = 6_000_000
    """Statements and calls, and what the host does in one go by what it amounts to."""
    depth: int = 180
    """Nested calls of interpreted functions."""
    seconds: float = 20.0
    total_seconds: float = 60.0
    idle_steps: int = 2_000_000
    """Statements and calls in a construction without any new tensor: an endless loop, or work that builds nothing."""
    container: int = 200_000
    """Items in one container, characters in one string (times 50)."""
    bits: int = 4096
    """Size of one integer."""
    modules: int = 400_000
    files: int = 4_000


HOSTILE = Budgets(steps=400_000, seconds=0.4, total_seconds=2.0, idle_steps=100_000, modules=60_000)
"""For text that nobody has vouched for, e.g. on every keystroke."""


REPORT = Budgets(steps=1_500_000, seconds=20.0, total_seconds=40.0, idle_steps=200_000)
"""For files that are vouched for, asked about by hand: five times the steps of the longest of 1,200 recorded
constructions. The dearest steps, calls that call, take 4.5 µs each."""


class BudgetExceeded(BaseException):
    """Not catchable by interpreted code; ``str(error)`` is the reason."""


def overdue(budgets: Budgets) -> str:
    return f"evaluation is not done after {budgets.total_seconds:g} s"


class Meter:
    """Counts against a budget. ``deadline`` is by the monotonic clock; without one ``total_seconds`` begin now."""

    __slots__ = (
        "budgets",
        "deadline",
        "files",
        "idle_from",
        "modules",
        "next_check",
        "parse_seconds",
        "started_thread",
        "steps",
    )

    def __init__(self, budgets: Budgets, deadline: float | None = None) -> None:
        self.budgets = budgets
        self.deadline = time.monotonic() + budgets.total_seconds if deadline is None else deadline
        self.steps = 0
        self.idle_from: int | None = None
        self.modules = 0
        self.files = 0
        self.parse_seconds = 0.0
        self.next_check = 2048
        self.started_thread = time.thread_time()

    def work(self, steps: int) -> None:
        """Count what the host does in one go as the steps it amounts to."""
        self.steps += steps
        if self.steps > self.next_check:
            self.check()

    def check(self) -> None:
        """The slow half of a tick, once every 2,048 steps."""
        self.next_check = self.steps + 2048
        budgets = self.budgets
        if self.steps > budgets.steps:
            raise BudgetExceeded(f"evaluation takes more than {budgets.steps:,} steps")
        if self.idle_from is not None and self.steps - self.idle_from > budgets.idle_steps:
            raise BudgetExceeded(f"more than {budgets.idle_steps:,} steps without building a tensor")
        spent = time.thread_time() - self.started_thread - self.parse_seconds
        if spent > budgets.seconds:
            raise BudgetExceeded(f"evaluation takes more than {budgets.seconds:g} s of processor time")
        if time.monotonic() > self.deadline:
            raise BudgetExceeded(overdue(budgets))

    def progress(self) -> None:
        """A tensor or module was built."""
        self.modules += 1
        if self.idle_from is not None:
            self.idle_from = self.steps
        if self.modules > self.budgets.modules:
            raise BudgetExceeded(f"more than {self.budgets.modules:,} modules and tensors")

    def build(self, modules: int, steps: int) -> None:
        """As many modules and tensors at once, which took these steps when they were built."""
        self.modules += modules - 1
        self.work(steps)
        self.progress()

    def size(self, length: int, what: str = "a container", factor: int = 1) -> None:
        if length > self.budgets.container * factor:
            raise BudgetExceeded(f"{what} of {length:,} items")
