"""Write the index of rule metadata that lets the engine start without importing every rule."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from neurarch_rules.engine import discovery


def rendered() -> str:
    """One entry a rule; fields that have their default are left out."""
    entries = []
    for name in discovery.rule_names():
        info = discovery.load(name).RULE
        defaults = {field.name: field.default for field in dataclasses.fields(info)}
        entries.append({key: value for key, value in dataclasses.asdict(info).items() if value != defaults[key]})
    return json.dumps(entries, indent=1) + "\n"


if __name__ == "__main__":
    Path(discovery.index_path()).write_text(rendered(), encoding="utf-8")
