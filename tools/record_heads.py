"""Record every class that transformers maps to a model type, as tools/record_oracle.py does for one class of each.

All have three labels, so that a head with a fixed number of outputs differs from one that counts them. Written to
OUT/heads.jsonl.xz, which tests/architectures/test_heads.py reads.

Usage: python tools/record_heads.py tests/data [--types a,b,c] [--seconds 60]
Needs torch (CPU) and transformers.
"""

from __future__ import annotations

import argparse
import gc
import signal
from pathlib import Path
from typing import Any

import transformers
from compress_ground_truth import write
from record_oracle import on_alarm, record
from transformers.models.auto import modeling_auto

LABELS = {
    "id2label": {"0": "first", "1": "second", "2": "third"},
    "label2id": {"first": 0, "second": 1, "third": 2},
}


def mapped_classes() -> dict[str, list[str]]:
    """model type -> names of all classes the auto mappings list for it."""
    found: dict[str, list[str]] = {}
    for name in sorted(dir(modeling_auto)):
        if not (name.startswith("MODEL_") and name.endswith("_MAPPING_NAMES")):
            continue
        for model_type, classes in getattr(modeling_auto, name).items():
            for one in (classes,) if isinstance(classes, str) else classes:
                if one and one not in found.setdefault(model_type, []):
                    found[model_type].append(one)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--types", default="")
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()
    signal.signal(signal.SIGALRM, on_alarm)
    records: list[Any] = []
    for model_type, classes in sorted(mapped_classes().items()):
        if arguments.types and model_type not in arguments.types.split(","):
            continue
        for name in classes:
            cls = getattr(transformers, name, None)
            if cls is None:
                continue
            found, reason = record(model_type, "tiny-a", arguments.seconds, cls, LABELS)
            if found is None:
                print(f"{model_type} {name}: {reason}")
                continue
            del found["tied"]
            records.append(found)
        gc.collect()
    write(arguments.out / "heads.jsonl.xz", records)
    print(len(records))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
