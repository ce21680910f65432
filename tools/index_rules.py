"""Write the index of rule metadata that lets the engine start without importing every rule."""

from __future__ import annotations

import json
from pathlib import Path

from neurarch_rules.engine import discovery


def rendered() -> str:
    """One entry a rule; fields that have their default are left out."""
    entries = []
    for name in discovery.rule_names():
        info = discovery.load(name).RULE
        defaults = info._field_defaults
        entries.append({key: value for key, value in info._asdict().items() if value != defaults.get(key)})
    return json.dumps(entries, indent=1) + "\n"


if __name__ == "__main__":
    Path(discovery.index_path()).write_text(rendered(), encoding="utf-8")
