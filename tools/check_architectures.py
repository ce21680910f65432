"""Compare our trees with recorded ground truth, tensor by tensor.

Usage: python tools/check_architectures.py GROUND_TRUTH/parameters [TYPE ...] [--variants default,tiny-a] [--verbose]
Prints one line a model type and variant that is not exact, with the tensors that differ, and a summary. Exits with 1
where a tree is wrong or building it crashes, or where nothing is recorded of a type that was named.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neurarch_schemas import architectures
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import rows

Key = tuple[str, tuple[int, ...], str]


def records(folder: Path, types: list[str]) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl")):
        if not types or path.stem in types:
            for line in path.read_text(encoding="utf-8").splitlines():
                yield json.loads(line)


def difference(record: dict[str, Any], written: dict[str, Any]) -> list[str]:
    """What our tree has too much or too little; empty when exact."""
    expected: Counter[Key] = Counter()
    for name, shape, kind, count in record["tensors"]:
        expected[(name, tuple(shape), kind)] += count
    config = read_config(written)
    ours = Counter({(row.name, row.shape, str(row.kind)): row.count for row in rows(architectures.build(config))})
    return [f"- {key} x{count}" for key, count in (expected - ours).items()] + [
        f"+ {key} x{count}" for key, count in (ours - expected).items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("types", nargs="*")
    parser.add_argument("--variants", default="default,tiny-a,cache")
    parser.add_argument("--verbose", action="store_true", help="print every differing tensor")
    parser.add_argument("--refused", action="store_true", help="also list the types we refuse")
    arguments = parser.parse_args()
    outcome: Counter[str] = Counter()
    for record in records(arguments.folder, arguments.types):
        if record["variant"] not in arguments.variants.split(","):
            continue
        written = [record["config"]]
        if record["variant"] == "default":
            written.append({"model_type": record["model_type"], "architectures": [record["architecture"]]})
        for number, config in enumerate(written):
            label = f"{record['model_type']} {record['variant']}{' bare' if number else ''} {record['architecture']}"
            try:
                lines = difference(record, config)
            except CannotBuild as error:
                outcome["refused"] += 1
                if arguments.types or arguments.refused:
                    print(f"REFUSED {label}: {error}")
                continue
            except Exception as error:  # a crash is one more outcome to list
                outcome["crash"] += 1
                print(f"CRASH {label}: {type(error).__name__}: {error}")
                continue
            outcome["wrong" if lines else "exact"] += 1
            if lines:
                print(f"WRONG {label}")
                print("\n".join(f"    {line}" for line in (lines if arguments.verbose else lines[:6])))
    print(dict(outcome))
    absent = [name for name in arguments.types if not (arguments.folder / f"{name}.jsonl").is_file()]
    for name in absent:
        print(f"MISSING {name}: nothing is recorded of it in {arguments.folder}")
    return 1 if absent or outcome["wrong"] or outcome["crash"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
