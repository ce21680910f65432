"""Constructions of our own programs, tensor by tensor as torch built them (tools/record_python.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas.interpreter import SourceCache, interpret
from neurarch_schemas.modules.tree import Module, rows, walk

DATA = Path(__file__).parent.parent / "data" / "interpreter"
RECORDS = [json.loads(line) for line in gzip.decompress((DATA / "recorded.jsonl.gz").read_bytes()).splitlines()]
CACHE = SourceCache()


def counts(tree: Module) -> dict[tuple[str, tuple[int, ...], str], int]:
    found: dict[tuple[str, tuple[int, ...], str], int] = {}
    for row in rows(tree):
        key = (row.name, row.shape, row.kind)
        found[key] = found.get(key, 0) + row.count
    return found


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["expression"])
def test_equals_torch(record: dict[str, Any]) -> None:
    result = interpret(str(DATA / record["file"]), record["expression"], cache=CACHE)
    assert result.exact, result.reason
    assert result.tree is not None
    expected = {(name, tuple(shape), kind): n for name, shape, kind, n in record["tensors"]}
    assert counts(result.tree) == expected
    tied = sum(visit.times for visit in walk(result.tree) for tensor in visit.module.tensors if tensor.tied_to)
    assert tied == record["tied"]
