"""Recorded ground truth, read once a session."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data"


@cache
def recorded(name: str) -> tuple[dict[str, Any], ...]:
    text = lzma.decompress((DATA / f"{name}.jsonl.xz").read_bytes()).decode()
    return tuple(json.loads(line) for line in text.splitlines())
