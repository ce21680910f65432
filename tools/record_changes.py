"""Record what transformers makes of recorded configs after one value in each is changed.

Usage: python tools/record_changes.py tests/data [--each 5] [--types a,b] [--seed 0]
Reads OUT/parameters.jsonl.xz (the small variant of each type) and writes OUT/changes.jsonl.xz, one change a line:

    {"model_type", "path", "value", "built": [parameters, buffers] | null, "error"}

``path`` leads to the key that is set to ``value``. ``built`` is null where loading the config or building the model on
the meta device raises ``error``; "config" or "model" before it says which. tests/architectures/test_changed_values.py
holds counts against it. Needs torch (CPU) and transformers.
"""

from __future__ import annotations

import argparse
import copy
import json
import lzma
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import transformers
from compress_ground_truth import write
from record_oracle import build, describe, on_alarm
from transformers.initialization import no_init_weights
from transformers.models.auto import configuration_auto

LEFT_ALONE = {"model_type", "architectures", "transformers_version", "id2label", "label2id", "dtype"}
DEEPEST = 2
SECONDS = 30


def replacements(value: Any) -> list[Any]:
    """Other values for a key: of other types, zero, negative, longer and shorter, unknown names."""
    if isinstance(value, bool):
        return [not value, None, "true"]
    if isinstance(value, int):
        return [None, 0, 1, -1, value + 1, value * 2, value + 0.5, float(value), str(value), [value], [value, value]]
    if isinstance(value, float):
        return [None, 0.0, -1.0, 2.5, str(value), int(value) or 1]
    if isinstance(value, str):
        return [None, "", "unknown_thing", value.upper(), 5, [value]]
    if isinstance(value, list):
        parts = [value[:-1], value + value[-1:], [None, *value[1:]], ["unknown_thing", *value[1:]], [-1, *value[1:]]]
        return [None, [], "unknown_thing", {}, *(parts if value else [])]
    if isinstance(value, dict):
        return [None, {}, "unknown_thing", []]
    return [3, 0, -1, 0.5, "unknown_thing", [1, 2], True]


def places(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in node.items():
        if key not in LEFT_ALONE:
            yield from (((*path, key), other) for other in replacements(value))
            if isinstance(value, dict) and len(path) < DEEPEST:
                yield from places(value, (*path, key))


def changed(config: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    result = copy.deepcopy(config)
    owner = result
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = value
    return result


def outcome(record: dict[str, Any], config: dict[str, Any]) -> tuple[list[int] | None, str | None]:
    stage = "config"
    signal.alarm(SECONDS)
    try:
        loaded = configuration_auto.CONFIG_MAPPING[record["model_type"]].from_dict(config)
        stage = "model"
        with no_init_weights():
            found = describe(build(getattr(transformers, record["architecture"]), loaded))
        return [found["parameters"], found["buffers"]], None
    except Exception as error:
        return None, f"{stage}: {type(error).__name__}: {' '.join(str(error).split())[:120]}"
    finally:
        signal.alarm(0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--each", type=int, default=5, help="changes of each model type")
    parser.add_argument("--types", default="")
    parser.add_argument("--seed", default="0")
    arguments = parser.parse_args()
    transformers.logging.set_verbosity(transformers.logging.CRITICAL)
    signal.signal(signal.SIGALRM, on_alarm)
    text = lzma.decompress((arguments.out / "parameters.jsonl.xz").read_bytes()).decode()
    small = {
        record["model_type"]: record for record in map(json.loads, text.splitlines()) if record["variant"] != "default"
    }
    records = []
    for model_type, record in sorted(small.items()):
        if arguments.types and model_type not in arguments.types.split(","):
            continue
        found = list(places(record["config"]))
        for path, value in random.Random(model_type + arguments.seed).sample(found, min(arguments.each, len(found))):
            built, error = outcome(record, changed(record["config"], path, value))
            entry = {"model_type": model_type, "path": path, "value": value, "built": built}
            records.append(entry if error is None else {**entry, "error": error})
    write(arguments.out / "changes.jsonl.xz", records)
    print(len(records))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
