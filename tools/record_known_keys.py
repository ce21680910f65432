"""Write the list of all keys that any model type of the catalogue declares."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "schemas/neurarch_schemas/catalogue/data"
TARGET = ROOT / "rules/neurarch_rules/facts/known_keys.json"


def known_keys() -> list[str]:
    keys: set[str] = set()
    for path in (DATA / "types").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        for part in ("properties", "x-synonyms", "x-keywords"):
            keys.update(record.get(part, {}))
    base = json.loads((DATA / "_base.json").read_text(encoding="utf-8"))
    return sorted({*keys, *base["properties"], *base["x-generation-keys"]})


def rendered() -> str:
    return json.dumps({"source": "the catalogue's model types", "keys": known_keys()}, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    TARGET.write_text(rendered(), encoding="utf-8")
