"""While a line is broken the rest of the file is interpreted, and never called exact."""

from __future__ import annotations

import ast

import pytest

from neurarch_schemas.interpreter import interpret, module_classes
from neurarch_schemas.interpreter.repair import repair
from neurarch_schemas.modules.tree import rows

TEXT = """import torch.nn as nn


class M(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, 2)

    def forward(self, x):
        for _ in range(3):
            x = self.first(x)
        return self.second(x)


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.only = nn.Linear(1, 1)
"""


def test_sound_text_stays() -> None:
    assert repair(TEXT) == (TEXT, ())


@pytest.mark.parametrize(
    ("old", "new", "scalars"),
    [
        ("self.second = nn.Linear(width, 2)", "self.second = nn.Linear(width,", 20),
        ("self.second = nn.Linear(width, 2)", "self.second = ", 20),
        ("x = self.first(x)", "x = self.first(x", 30),
        ("for _ in range(3):", "for _ in range(3", 30),
        ("def forward(self, x):", "def forward(self, x", 30),
        ("return self.second(x)", "if x", 30),
        ("return self.second(x)", "if x:", 30),
        ("        self.only = nn.Linear(1, 1)\n", "        self.only = nn.Linear(1, 1\n\nx = = 3\n", 30),
    ],
)
def test_the_rest_is_interpreted(old: str, new: str, scalars: int) -> None:
    text = TEXT.replace(old, new)
    line = text[: text.index(new)].count("\n") + 1
    mended, lost = repair(text)
    ast.parse(mended)
    assert mended.count("\n") == text.count("\n")
    assert line in lost
    result = interpret(text, "M()", path="model.py")
    assert not result.exact
    assert result.reason is not None
    assert "cannot be read right now" in result.reason
    assert result.tree is not None
    assert sum(row.scalars for row in rows(result.tree)) == scalars
    assert "M" in [each.name for each in module_classes(text, path="model.py")]


def test_a_broken_class_is_left_out_whole() -> None:
    text = TEXT.replace("class M(nn.Module):", "class M(nn.Module")
    assert [each.name for each in module_classes(text, path="model.py")] == ["Other"]


def test_text_that_is_no_python_gives_nothing() -> None:
    assert module_classes("{{ template }} <b>\n  'x", path="model.py") == ()
