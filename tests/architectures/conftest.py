"""Recorded ground truth, read once a session."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from neurarch_schemas.modules.tree import Module, rows

DATA = Path(__file__).parent.parent / "data"


@cache
def recorded(name: str) -> tuple[dict[str, Any], ...]:
    text = lzma.decompress((DATA / f"{name}.jsonl.xz").read_bytes()).decode()
    return tuple(json.loads(line) for line in text.splitlines())


def expected_tensors(record: dict[str, Any]) -> Counter[tuple[str, tuple[int, ...], str]]:
    """How often each name pattern, shape and kind was recorded."""
    expected: Counter[tuple[str, tuple[int, ...], str]] = Counter()
    for name, shape, kind, count in record["tensors"]:
        expected[(name, tuple(shape), kind)] += count
    return expected


def tensors(tree: Module) -> Counter[tuple[str, tuple[int, ...], str]]:
    return Counter({(row.name, row.shape, str(row.kind)): row.count for row in rows(tree)})
