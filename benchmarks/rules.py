"""The slowest rule on one config: each rule by itself, over published configs; and what the rules of a file share.

Usage: python benchmarks/rules.py [FOLDER]
FOLDER holds published configs (NAME.json); without it the recorded default configs of tests/data are used.
What most rules ask for (the places of keys, the module tree, what is in it, the KV cache) is computed beforehand and
timed apart; everything else that a rule derives is counted as its own, also what other rules of the file would ask for
again, and what is remembered from other files is forgotten. The best of three runs, in seconds of this process, so
that a busy machine does not matter.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from corpus import texts
from harness import HEADER, row

from neurarch_rules.engine import analyse, discovery, selection
from neurarch_rules.engine.context import Context
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.rule import Rule
from neurarch_rules.engine.run import run
from neurarch_rules.facts import spelling
from neurarch_schemas.analysis import Analysis

LARGE = 1_000_000
SHOWN = 10


SHARED: dict[str, Callable[[Analysis], object]] = {
    "the places of its keys": lambda analysis: analysis.document.container(""),
    "the module tree": lambda analysis: analysis.built,
    "the modules of the tree": lambda analysis: analysis.visits,
    "the KV cache": lambda analysis: analysis.kv_cache,
}

Slowest = dict[tuple[str, bool], tuple[float, int]]
"""By name, and for large files apart: seconds, and the number of the file."""


def best(work: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> float:
    found = []
    for _ in range(3):
        prepare()
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def of_rule(rule: Rule, analysis: Analysis) -> float:
    return best(lambda: list(rule.check(Context(analysis, Options()))), spelling.forget)


def of_shared(text: str) -> dict[str, float]:
    runs = []
    for _ in range(3):
        analysis = analyse.analyse_text("config.json", text)
        assert isinstance(analysis, Analysis)
        spent = {}
        for name, part in SHARED.items():
            start = time.process_time()
            part(analysis)
            spent[name] = time.process_time() - start
        runs.append(spent)
    return {name: min(run[name] for run in runs) for name in SHARED}


def note(slowest: Slowest, key: tuple[str, bool], seconds: float, number: int) -> None:
    slowest[key] = max(slowest.get(key, (0.0, 0)), (seconds, number))


def main() -> int:
    rules = selection.selected(discovery.all_rules(), Options())
    slowest: Slowest = {}
    shared: Slowest = {}
    for number, text in enumerate(texts(Path(sys.argv[1]) if len(sys.argv) > 1 else None)):
        analysis = analyse.analyse_text("config.json", text)
        if not isinstance(analysis, Analysis):
            continue
        run(analysis, Options())
        is_large = len(text) > LARGE
        for name, spent in of_shared(text).items():
            note(shared, (name, is_large), spent, number)
        for rule in rules:
            if analysis.kind in rule.RULE.reads:
                note(slowest, (rule.RULE.name, is_large), of_rule(rule, analysis), number)
    print(HEADER)
    for is_large, budget in ((False, 0.001), (True, 0.020)):
        what = f"of more than {LARGE // 1_000_000} MB" if is_large else "of ordinary size"
        for table, limit in ((slowest, budget), (shared, None)):
            found = sorted(((value, name) for (name, large), value in table.items() if large == is_large), reverse=True)
            for (spent, number), name in found[:SHOWN]:
                measured = f"{spent * 1000:.2f} ms (file {number})"
                allowed = "none, shared by all rules" if limit is None else f"{limit * 1000:.0f} ms"
                print(row(f"{name} on a config {what}", measured, allowed, limit is None or spent < limit))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
