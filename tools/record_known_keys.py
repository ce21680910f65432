"""Write the list of all keys that any model type of the catalogue declares."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "schemas/neurarch_schemas/catalogue/data"
TARGET = ROOT / "rules/neurarch_rules/facts/known_keys.json"


COMMON = 12
"""Types that must declare a key before foreign code is expected to use the same name."""


def known_keys() -> Counter[str]:
    """Each key with the number of types that declare it."""
    keys: Counter[str] = Counter()
    for path in (DATA / "types").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        for part in ("properties", "x-synonyms", "x-keywords"):
            keys.update(record.get(part, {}).keys())
    return keys


def rendered() -> str:
    keys = known_keys()
    base = json.loads((DATA / "_base.json").read_text(encoding="utf-8"))
    always = {*base["properties"], *base["x-generation-keys"]}
    common = sorted({*base["properties"], *(key for key, count in keys.items() if count >= COMMON)})
    data = {"source": "the catalogue's model types", "keys": sorted({*keys, *always}), "common": common}
    return json.dumps(data, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    TARGET.write_text(rendered(), encoding="utf-8")
