"""Cold interpretation of Python model code: every class of a file, in a process that has read nothing before.

Usage: python benchmarks/interpretation.py SITE_PACKAGES [FILE ...]
SITE_PACKAGES holds the packages that the files import, as text; nothing of them runs. Without FILE these are the
modeling files of its transformers from 3,000 lines up. Timed is what the server does for a file that is opened
(``read`` of neurarch_lsp.features.python_models), parsing included, the interpreter's start excluded: the best of five
processes, in seconds of the process, without garbage collection, as in the server's child.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness import HEADER, row

BUDGET = 0.300
RUNS = 5
LONG = 3_000
CHILD = """
import gc, sys, time
from neurarch_lsp.features.python_models import read
from neurarch_schemas.interpreter import SourceCache
gc.disable()
path, folder = sys.argv[1:]
text = open(path, encoding="utf-8").read()
start = time.process_time()
found = read(path, text, [folder], False, SourceCache()).classes
print(time.process_time() - start, len(found), sum(each.tree is not None for each in found))
"""


def measured(path: Path, folder: Path) -> tuple[float, int, int]:
    """Seconds, module classes, and how many of them have a construction that gives a tree."""
    best: tuple[float, int, int] | None = None
    for _ in range(RUNS):
        command = (sys.executable, "-c", CHILD, str(path), str(folder))
        seconds, classes, built = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
        found = float(seconds), int(classes), int(built)
        best = found if best is None or found < best else best
    assert best is not None
    return best


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    paths = [Path(each).resolve() for each in sys.argv[2:]] or [
        path
        for path in sorted(folder.glob("transformers/models/*/modeling_*.py"))
        if path.read_text(encoding="utf-8").count("\n") >= LONG
    ]
    print(HEADER)
    for path in paths:
        seconds, classes, built = measured(path, folder)
        lines = path.read_text(encoding="utf-8").count("\n")
        what = f"{path.name}, {lines:,} lines, {classes} module classes, {built} built"
        print(row(what, f"{1000 * seconds:.0f} ms", f"{1000 * BUDGET:.0f} ms", seconds < BUDGET), flush=True)


if __name__ == "__main__":
    main()
