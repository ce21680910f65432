"""How many recorded constructions the interpreter gives exactly.

    python tools/measure_interpreter.py CONSTRUCTIONS.jsonl SITE_PACKAGES [SITE_PACKAGES ...]

CONSTRUCTIONS.jsonl has lines {"package", "file", "expression", "imports", "parameters", "buffers", "tensors"}, files
relative to the first folder of sources. Prints each line that is not exact, then the figures of each package.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict

from neurarch_schemas.interpreter import Budgets, SourceCache, interpret
from neurarch_schemas.modules.tree import rows


def verdict(record: dict[str, object], folders: list[str], cache: SourceCache) -> tuple[str, str]:
    expression = "; ".join([*record.get("imports", []), record["expression"]])  # type: ignore[misc]  # as recorded
    path = f"{folders[0]}/{record['file']}"
    result = interpret(path, expression, folders, Budgets(seconds=60, total_seconds=180), cache=cache)
    if record.get("lazy"):
        return ("exact" if result.lazy and not result.exact else "wrong"), str(result.reason)
    if not result.exact or result.tree is None:
        return "labelled", str(result.reason)
    counts: dict[tuple[str, tuple[int, ...], str], int] = {}
    totals = {"parameter": 0, "buffer": 0}
    for row in rows(result.tree):
        counts[row.name, row.shape, row.kind] = counts.get((row.name, row.shape, row.kind), 0) + row.count
        totals[row.kind] += row.scalars
    same = totals["parameter"] == record["parameters"] and totals["buffer"] == record["buffers"]
    if record["tensors"] is not None:
        tensors: list[tuple[str, list[int], str, int]] = record["tensors"]  # type: ignore[assignment]
        same = same and counts == {(name, tuple(shape), kind): n for name, shape, kind, n in tensors}
    return ("exact" if same else "wrong"), f"{totals}"


def main() -> None:
    cache = SourceCache()
    figures: dict[str, Counter[str]] = defaultdict(Counter)
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            started = time.process_time()
            kind, detail = verdict(record, sys.argv[2:], cache)
            figures[record["package"]][kind] += 1
            if kind != "exact":
                print(
                    f"{time.process_time() - started:.2f} s {record['file']} {record['expression']}: {kind}, {detail}"
                )
    for package, counts in figures.items():
        print(package, dict(counts))
    print("all", dict(sum(figures.values(), Counter())))


if __name__ == "__main__":
    main()
