"""``--check`` of 1,000 configs in one process, without a cache: seconds and peak memory.

Usage: python benchmarks/corpus.py [--unique] [FOLDER]
FOLDER holds published configs (NAME.json); without it the recorded default configs of tests/data are used. They are
repeated at different paths until there are 1,000; with --unique each copy says another ``_name_or_path``, so that no
two files are the same. The budget is for one core of its own: on a busy machine look at the processor time.
"""

from __future__ import annotations

import contextlib
import io
import json
import lzma
import re
import sys
import tempfile
import time
from pathlib import Path

from harness import HEADER, peak_memory_mib, row

ROOT = Path(__file__).resolve().parent.parent
WANTED = 1000
NAME = re.compile(r'"_name_or_path"\s*:\s*"[^"]*"')


def texts(folder: Path | None) -> list[str]:
    if folder is not None:
        return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))]
    records = lzma.decompress((ROOT / "tests" / "data" / "parameters.jsonl.xz").read_bytes()).decode().splitlines()
    return [json.dumps(json.loads(line)["config"], indent=2) for line in records]


def renamed(text: str, number: int) -> str:
    name = f'"_name_or_path": "organisation/model-{number}"'
    if NAME.search(text):
        return NAME.sub(name, text, count=1)
    return text.replace("{", "{" + f"\n  {name},", 1)


def main() -> int:
    arguments = sys.argv[1:]
    is_unique = "--unique" in arguments
    folders = [Path(argument) for argument in arguments if argument != "--unique"]
    found = texts(folders[0] if folders else None)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(WANTED):
            place = Path(folder) / f"model-{number}"
            place.mkdir()
            text = found[number % len(found)]
            (place / "config.json").write_text(renamed(text, number) if is_unique else text, encoding="utf-8")
        from neurarch_lsp.__main__ import main as run

        start, busy = time.perf_counter(), time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            run(["--check", folder, "--output-format", "json", "--no-cache"])
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
    what = f"--check of {WANTED} configs{', no two the same' if is_unique else ''}, one process"
    print(HEADER)
    print(row(what, f"{seconds:.2f} s", "2 s", seconds < 2))
    print(row("its processor time", f"{busy:.2f} s", "2 s", busy < 2))
    print(row("its peak memory", f"{peak_memory_mib():.0f} MiB", "200 MB", peak_memory_mib() < 190))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
