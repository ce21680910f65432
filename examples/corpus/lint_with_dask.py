"""Lint and count a corpus of configs on a Dask cluster: ``python lint_with_dask.py FOLDER [SCHEDULER]``.

Each task gets a block of paths and returns plain values, so the same code runs on a laptop and on a thousand machines
that share a file system. Needs ``pip install "dask[distributed]"``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from neurarch_lsp import api

BLOCK = 200


def blocks(paths: list[str], size: int = BLOCK) -> Iterator[list[str]]:
    for start in range(0, len(paths), size):
        yield paths[start : start + size]


def lint_block(paths: list[str]) -> list[tuple[api.CheckResult, int | None]]:
    """What --check finds in each file, and the parameters where they are known."""
    found = []
    for result in api.check_files(paths):
        total = api.report_file(result.file)["parameters"]["total"] if result.kind == "config" else None
        found.append((result, total))
    return found


def main(folder: str, scheduler: str | None = None) -> None:
    from dask.distributed import Client

    paths = sorted(str(path) for path in Path(folder).rglob("*config*.json"))
    with Client(scheduler) if scheduler else Client(processes=True) as client:
        futures = client.map(lint_block, list(blocks(paths)))
        results = [item for block in client.gather(futures) for item in block]
    counts = Counter((finding.severity, finding.rule) for result, _ in results for finding in result.findings)
    for (severity, rule), count in counts.most_common():
        print(f"{count:6}  {severity:8}{rule}")
    known = [total for _, total in results if total is not None]
    print(f"{len(results)} files, {len(known)} models counted, {sum(known):,} parameters in all")


if __name__ == "__main__":
    main(*sys.argv[1:])
