"""Compare our trees with the exact tensors of real published configs.

Usage: python tools/check_truth.py CONFIGS [FILE ...] [--refused] [--verbose]
CONFIGS holds the config files and TRUTH.jsonl: one file a line with ``model_type``, ``architecture`` and ``tensors``.
Prints one line a file that is not exact, with the tensors that differ, the time of the slowest, and a summary.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from neurarch_schemas import architectures
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import rows

Key = tuple[str, tuple[int, ...], str]


def difference(record: dict[str, Any], written: Any) -> list[str]:
    """What our tree has too much or too little; empty when exact."""
    expected: Counter[Key] = Counter()
    for name, shape, kind, count in record["tensors"]:
        expected[(name, tuple(shape), kind)] += count
    tree = architectures.build(read_config(written))
    ours = Counter({(row.name, row.shape, str(row.kind)): row.count for row in rows(tree)})
    return [f"- {key} x{count}" for key, count in (expected - ours).items()] + [
        f"+ {key} x{count}" for key, count in (ours - expected).items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--refused", action="store_true", help="also list the files we refuse")
    parser.add_argument("--verbose", action="store_true", help="print every differing tensor")
    arguments = parser.parse_args()
    outcome: Counter[str] = Counter()
    slowest = (0.0, "")
    for line in (arguments.folder / "TRUTH.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if arguments.files and record["file"] not in arguments.files:
            continue
        label = f"{record['file']} {record['architecture']}"
        written = json.loads((arguments.folder / record["file"]).read_text(encoding="utf-8"))
        start = time.perf_counter()
        try:
            lines = difference(record, written)
        except CannotBuild as error:
            outcome["refused"] += 1
            if arguments.refused or arguments.files:
                print(f"REFUSED {label}: {error}")
            continue
        except Exception as error:  # a crash is one more outcome to list
            outcome["crash"] += 1
            print(f"CRASH {label}: {type(error).__name__}: {error}")
            continue
        slowest = max(slowest, (time.perf_counter() - start, record["file"]))
        outcome["wrong" if lines else "exact"] += 1
        if lines:
            print(f"WRONG {label}")
            print("\n".join(f"    {entry}" for entry in (lines if arguments.verbose else lines[:6])))
    print(dict(outcome), f"slowest {slowest[0] * 1000:.1f} ms ({slowest[1]})")
    return int(bool(outcome["wrong"] or outcome["crash"]))


if __name__ == "__main__":
    raise SystemExit(main())
