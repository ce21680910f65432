"""The HTML card of each config, in a process that has made cards before: from the file's text to the page.

Usage: python benchmarks/cards.py [FOLDER]
FOLDER holds published configs (NAME.json); without it the recorded default configs of tests/data are used.
Timed are parsing, building the tree, all rules, all sections of the card and the page, nothing of it remembered from
the run before; read before are this program's own tables (catalogue, devices, published profiles), and garbage is
collected as rarely as the program does. The best of five runs in seconds of this process, so that a busy machine does
not matter much; for the slowest, best and median of thirty.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from pathlib import Path

from corpus import texts
from harness import HEADER, row

from neurarch_lsp.card.build import build_card
from neurarch_lsp.render.card_html import card_html
from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import check

BUDGET = 0.050
LARGEST_PAGE = 300_000
RUNS = 5
MANY = 30
SHOWN = 5


def page(text: str) -> str | None:
    """None where the file is no model configuration."""
    analysis = analyse_text("config.json", text)
    return None if analysis is None else card_html(build_card("config.json", analysis, check(analysis, Options())))


def seconds(text: str, runs: int = RUNS) -> list[float]:
    found = []
    for _ in range(runs):
        start = time.process_time()
        page(text)
        found.append(time.process_time() - start)
    return sorted(found)


def main() -> int:
    gc.set_threshold(50_000, 20, 50)
    found = texts(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    sizes = [(len(made.encode()), number) for number, text in enumerate(found) if (made := page(text)) is not None]
    spent = sorted(((seconds(found[number])[0], number) for _, number in sizes), reverse=True)
    print(HEADER)
    for value, number in spent[:SHOWN]:
        what = f"HTML card of a config of {len(found[number]) / 1000:,.0f} kB (file {number})"
        print(row(what, f"{value * 1000:.1f} ms", f"{BUDGET * 1000:.0f} ms", value < BUDGET))
    again = seconds(found[spent[0][1]], MANY)
    both = f"{again[0] * 1000:.1f} ms, median {again[MANY // 2] * 1000:.1f} ms"
    print(row(f"the slowest, {MANY} times: best", both, f"{BUDGET * 1000:.0f} ms", again[0] < BUDGET))
    print(row(f"mean of {len(spent)} cards", f"{statistics.mean(s for s, _ in spent) * 1000:.1f} ms", "none", True))
    largest, number = max(sizes)
    print(row(f"largest page (file {number})", f"{largest / 1000:.0f} kB", "300 kB", largest < LARGEST_PAGE))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
