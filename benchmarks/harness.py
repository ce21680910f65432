"""Timing of whole commands and of functions: the median, the worst, and ratios against a peer in the same run."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of each run, sorted."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def percentile(self, percent: float) -> float:
        index = min(len(self.seconds) - 1, round(percent / 100 * (len(self.seconds) - 1)))
        return self.seconds[index]


def command(arguments: Sequence[str], runs: int = 11, accept: Sequence[int] = (0, 1)) -> Timing:
    """Wall time of a command as a whole process; one run first that is not counted."""
    found: list[float] = []
    for run in range(runs + 1):
        start = time.perf_counter()
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode not in accept:
            raise SystemExit(f"{' '.join(arguments)} exited with {done.returncode}: {done.stderr.decode()[-400:]}")
        if run:
            found.append(time.perf_counter() - start)
    return Timing(tuple(sorted(found)))


def paired(ours: Sequence[str], peer: Sequence[str], runs: int = 11) -> tuple[Timing, Timing, float]:
    """Both commands in turn, and the median of the ratios run by run, which holds when the machine's speed drifts."""
    left: list[float] = []
    right: list[float] = []
    for _ in range(runs):
        left.append(command(ours, 1).median)
        right.append(command(peer, 1).median)
    ratio = statistics.median(a / b for a, b in zip(left, right, strict=True))
    return Timing(tuple(sorted(left))), Timing(tuple(sorted(right))), ratio


def function(call: Callable[[], object], runs: int = 200) -> Timing:
    found: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return Timing(tuple(sorted(found)))


def peak_memory_mib() -> float:
    """Peak resident memory of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def row(what: str, measured: str, budget: str, holds: bool) -> str:
    return f"| {what} | {measured} | {budget} | {'yes' if holds else 'NO'} |"


HEADER = "| what | measured | budget | holds |\n|---|---|---|---|"
