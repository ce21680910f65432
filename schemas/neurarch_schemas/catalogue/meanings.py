"""Short meanings of the most used config keys, written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast


@cache
def meanings() -> Mapping[str, str]:
    """Key -> one plain sentence, with unit and effect."""
    text = (Path(__file__).parent / "meanings.json").read_text(encoding="utf-8")
    return cast("Mapping[str, str]", json.loads(text))


def meaning(name: str) -> str | None:
    """What a key does, in one sentence; None for keys nobody has described."""
    return meanings().get(name)
