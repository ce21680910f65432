"""Pack recorded ground truth into the files the tests read.

Usage: python tools/compress_ground_truth.py GROUND_TRUTH tests/data
Writes parameters.jsonl.xz (records of tools/record_oracle.py) and kv_cache.jsonl.xz (records of tools/record_kv.py,
each with its config and without the single cache tensors).
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path
from typing import Any


def write(path: Path, records: list[Any]) -> None:
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def main() -> int:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    parameters = [
        json.loads(line)
        for path in sorted((source / "parameters").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    configs = {(record["model_type"], record["variant"]): record["config"] for record in parameters}
    caches = [json.loads(line) for line in (source / "kv_cache.jsonl").read_text(encoding="utf-8").splitlines()]
    for record in caches:
        del record["tensors"]
        record["config"] = configs[(record["model_type"], record["variant"])]
    write(target / "parameters.jsonl.xz", parameters)
    write(target / "kv_cache.jsonl.xz", caches)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
