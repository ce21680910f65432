"""Shapes of torch's functions and tensor methods as torch gives them (tools/record_shapes.py)."""

from __future__ import annotations

import ast
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas.interpreter import Budgets, SourceCache
from neurarch_schemas.interpreter.budgets import Meter
from neurarch_schemas.interpreter.machine import Machine
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.sources import Sources
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import Raised, UnknownTruth, Value

DATA = Path(__file__).parent.parent / "data" / "interpreter" / "shapes.jsonl.gz"
_MANY = 10**9


def shape(value: Value) -> Any:
    """None where any part is not known."""
    if isinstance(value, Tensor):
        return None if value.shape is None else list(value.shape)
    if isinstance(value, tuple | list) and value and all(isinstance(each, Tensor) for each in value):
        shapes = [shape(each) for each in value]
        return None if None in shapes else {"pieces": shapes}
    return None


@pytest.fixture(scope="module")
def compared() -> list[tuple[str, Any, Any]]:
    budgets = Budgets(seconds=600, total_seconds=600, steps=_MANY, idle_steps=_MANY, modules=_MANY)
    machine = Machine(Sources((), SourceCache(), {}), Meter(budgets))
    module = machine.new_module("shapes", None, False)
    module.loading = True
    frame = machine.frame = Frame(module, None, module.namespace)
    machine.execute(ast.parse("import torch").body, frame)
    found = []
    for line in gzip.decompress(DATA.read_bytes()).splitlines():
        expression, expected = json.loads(line)
        try:
            value = machine.evaluate(ast.parse(expression, mode="eval").body, frame)
        except (Raised, UnknownTruth):
            value = None
        found.append((expression, expected, shape(value)))
    return found


def test_no_known_shape_is_wrong(compared: list[tuple[str, Any, Any]]) -> None:
    assert [line for line in compared if line[2] is not None and line[2] != line[1]] == []


def test_most_shapes_are_known(compared: list[tuple[str, Any, Any]]) -> None:
    assert sum(known is not None for _, _, known in compared) / len(compared) > 0.7
