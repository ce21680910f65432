"""The slowest rule on one config: each rule by itself, over published configs.

Usage: python benchmarks/rules.py [FOLDER]
FOLDER holds published configs (NAME.json); without it the recorded default configs of tests/data are used.
What is known about a file (its tree, its sums) is computed beforehand, once for all rules; what a rule derives from it
is counted. The best of three runs, in seconds of this process, so that a busy machine does not matter.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from corpus import texts
from harness import HEADER, row

from neurarch_rules.engine import analyse, discovery, selection
from neurarch_rules.engine.context import Context
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.rule import Rule
from neurarch_rules.engine.run import run
from neurarch_schemas.analysis import Analysis

LARGE = 1_000_000
SHOWN = 10


def seconds(rule: Rule, analysis: Analysis) -> float:
    found = []
    for _ in range(3):
        context = Context(analysis, Options())
        start = time.process_time()
        list(rule.check(context))
        found.append(time.process_time() - start)
    return min(found)


def main() -> int:
    rules = selection.selected(discovery.all_rules(), Options())
    slowest: dict[tuple[str, bool], tuple[float, int]] = {}
    for number, text in enumerate(texts(Path(sys.argv[1]) if len(sys.argv) > 1 else None)):
        analysis = analyse.analyse_text("config.json", text)
        if not isinstance(analysis, Analysis):
            continue
        run(analysis, Options())
        for rule in rules:
            if analysis.kind in rule.RULE.reads:
                key = (rule.RULE.name, len(text) > LARGE)
                slowest[key] = max(slowest.get(key, (0.0, 0)), (seconds(rule, analysis), number))
    print(HEADER)
    for is_large, budget in ((False, 0.001), (True, 0.020)):
        found = sorted(((value, name) for (name, large), value in slowest.items() if large == is_large), reverse=True)
        what = f"of more than {LARGE // 1_000_000} MB" if is_large else "of ordinary size"
        for (spent, number), name in found[:SHOWN]:
            measured = f"{spent * 1000:.2f} ms (file {number})"
            print(row(f"{name} on a config {what}", measured, f"{budget * 1000:.0f} ms", spent < budget))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
