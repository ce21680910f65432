"""``--check`` of 1,000 configs in one process, without a cache: seconds and peak memory.

Usage: python benchmarks/corpus.py [FOLDER]
FOLDER holds published configs (NAME.json); without it the recorded default configs of tests/data are used.
"""

from __future__ import annotations

import contextlib
import io
import json
import lzma
import sys
import tempfile
import time
from pathlib import Path

from harness import HEADER, peak_memory_mib, row

ROOT = Path(__file__).resolve().parent.parent
WANTED = 1000


def texts(folder: Path | None) -> list[str]:
    if folder is not None:
        return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))]
    records = lzma.decompress((ROOT / "tests" / "data" / "parameters.jsonl.xz").read_bytes()).decode().splitlines()
    return [json.dumps(json.loads(line)["config"], indent=2) for line in records]


def main() -> int:
    found = texts(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(WANTED):
            place = Path(folder) / f"model-{number}"
            place.mkdir()
            (place / "config.json").write_text(found[number % len(found)], encoding="utf-8")
        from neurarch_lsp.__main__ import main as run

        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            run(["--check", folder, "--output-format", "json"])
        seconds = time.perf_counter() - start
    print(HEADER)
    print(row(f"--check of {WANTED} configs, one process", f"{seconds:.2f} s", "2 s", seconds < 2))
    print(row("its peak memory", f"{peak_memory_mib():.0f} MiB", "200 MB", peak_memory_mib() < 190))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
