"""Record the tensors that transformers writes into checkpoints of tiny models: names, shapes, no values.

Usage: python tools/record_checkpoints.py GROUND_TRUTH/parameters OUT.jsonl.xz
Each line: {"model_type", "config", "tensors": [[name, shape, dtype], ...]}. Saving renames tensors back to their
published names, so the records test that other namings are no mismatch. Needs torch and transformers.
"""

from __future__ import annotations

import json
import lzma
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import transformers

LARGEST = 6_000_000


def header(path: Path) -> list[list[Any]]:
    with path.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        entries = json.loads(stream.read(length))
    return [[name, entry["shape"], entry["dtype"]] for name, entry in entries.items() if name != "__metadata__"]


def records(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        record = next((line for line in lines if line["variant"] == "tiny-a"), None)
        model_class = getattr(transformers, record["architecture"], None) if record else None
        if record is None or model_class is None or record["parameters"] > LARGEST:
            continue
        try:
            config = transformers.CONFIG_MAPPING[record["model_type"]].from_dict(record["config"])
            with tempfile.TemporaryDirectory() as target:
                model_class(config).save_pretrained(target)
                written = json.loads((Path(target) / "config.json").read_text(encoding="utf-8"))
                tensors = [entry for file in sorted(Path(target).glob("*.safetensors")) for entry in header(file)]
        except Exception as error:  # a type that cannot be built or saved alone is left out
            print(f"{record['model_type']}: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
            continue
        yield {"model_type": record["model_type"], "config": written, "tensors": tensors}


def main() -> int:
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records(Path(sys.argv[1])))
    Path(sys.argv[2]).write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
