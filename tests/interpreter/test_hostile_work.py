"""Work inside the host's own loops counts as steps; a file's module runs once for all of its classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.interpreter import REPORT, Budgets, Interpretation, interpret, interpret_file

BY_STEPS = replace(REPORT, seconds=600.0, total_seconds=600.0)
"""How busy the machine is must not decide a test."""
HEAD = """import copy, functools
import torch
import torch.nn as nn

def nest(times=60):
    value = [0]
    for i in range(times): value = [value, value]
    return value

def pairs(times=60):
    value = (0,)
    for i in range(times): value = (value, value)
    return value

class M(nn.Module):
    def __init__(self):
        super().__init__()
"""
HANGS = {
    "text of a shared list": "str(nest())",
    "repr": "repr(nest())",
    "formatted": "f'{nest()}'",
    "formatted with repr": "f'{nest()!r}'",
    "format method": "'{}'.format(nest())",
    "format method with repr": "'{!r}'.format(nest())",
    "percent": "'%s' % (nest(),)",
    "format function": "format(nest())",
    "equal": "nest() == nest()",
    "unequal": "nest() != nest()",
    "less": "nest() < nest()",
    "sorted": "sorted([nest(), nest()])",
    "index": "[nest()].index(nest())",
    "membership": "nest() in [nest()]",
    "hash": "hash(pairs())",
    "key": "{pairs(): 1}",
    "key stored": "d = {}\n        d[pairs()] = 1",
    "key looked up": "{}.get(pairs())",
    "key in": "pairs() in {}",
    "key comprehended": "{p: 1 for p in [pairs()]}",
    "set": "{pairs()}",
    "set comprehended": "{p for p in [pairs()]}",
    "set made": "set([pairs()])",
    "set added": "s = set()\n        s.add(pairs())",
    "dict made": "dict([(pairs(), 1)])",
    "dict updated": "d = {}\n        d.update([(pairs(), 1)])",
    "cached call": "f = functools.cache(lambda x: 1)\n        f(pairs())",
    "raised": "raise ValueError(nest())",
    "text of an error": "str(ValueError(pairs()))",
    "tensor": "torch.tensor(nest())",
    "counter": "import collections\n        collections.Counter([pairs()])",
    "data class": (
        "import dataclasses\n        @dataclasses.dataclass(frozen=True)\n        class P:\n            x: object\n"
        "        P(pairs()) == P(pairs())"
    ),
    "parameters": (
        "m = nn.Linear(2, 2)\n        for i in range(60): m = nn.ModuleDict({'a': m, 'b': m})\n        m.state_dict()"
    ),
    "replace": "s = 'x' * 500000\n        for i in range(10**5): s.replace('x', 'yy')",
    "count": "s = 'x' * 500000\n        for i in range(10**5): s.count('xx')",
    "insert and sort": "l = list(range(10**5))\n        for i in range(10**5): l.insert(0, i); l.sort()",
    "slice": "l = list(range(10**5))\n        for i in range(10**5): l[::-1]",
    "sum of lists": "l = list(range(10**5))\n        for i in range(10**5): l + l",
    "union": "s = set(range(10**5))\n        for i in range(10**5): s | s",
    "set of a list": "l = list(range(10**5))\n        for i in range(10**5): set(l)",
    "copies": "l = list(range(10**5))\n        for i in range(10**5): l.copy()",
    "search": "l = list(range(10**5))\n        for i in range(10**5): -1 in l",
    "recursion": "f = lambda n: f(n - 1) + f(n - 2) if n > 1 else n\n        f(60)",
    "shared modules": "m = nn.Linear(2, 2)\n        for i in range(60): m = nn.Sequential(m, m)\n        self.m = m",
    "shared named modules": (
        "m = nn.Linear(2, 2)\n        for i in range(60): m = nn.ModuleDict({'a': m, 'b': m})\n        self.m = m"
    ),
}


def of(body: str, budgets: Budgets = BY_STEPS) -> Interpretation:
    return interpret(HEAD + f"        {body}\n", "M()", budgets=budgets, path="hostile.py")


@pytest.mark.parametrize("body", HANGS.values(), ids=HANGS.keys())
def test_ends_within_its_steps(body: str) -> None:
    result = of(body + "\n        self.l = nn.Linear(2, 2)")
    assert result.steps <= REPORT.idle_steps + 20_000
    if "raise" not in body:
        assert result.tree is None
        assert result.reason is not None
        assert "steps" in result.reason or "places" in result.reason


def test_work_that_goes_on_building_ends_by_steps() -> None:
    result = of("while True:\n            for i in range(1000): pass\n            nn.Linear(2, 2)")
    assert result.reason == "evaluation takes more than 1,500,000 steps"


@pytest.mark.parametrize(
    ("budgets", "reason"),
    [
        (replace(BY_STEPS, seconds=0.0), "evaluation takes more than 0 s of processor time"),
        (replace(BY_STEPS, total_seconds=0.0), "evaluation is not done after 0 s"),
    ],
)
def test_the_reason_names_the_time_that_ran_out(budgets: Budgets, reason: str) -> None:
    assert of("while True: pass", budgets).reason == reason


def test_deep_values_end() -> None:
    deep = "t = ()\n        for i in range(50000): t = (t,)\n        hash(t)"
    assert of(deep).reason == "values nest deeper than 400"


def test_joined_text_has_its_size_checked() -> None:
    reason = of("s = 'x'.join(['a' * 10**5] * 10**5)").reason
    assert reason is not None
    assert "a string" in reason


def test_plain_work_stays_cheap() -> None:
    """Long lists of numbers and texts, as a model has them, cost far less than a step for each item."""
    result = of(
        "l = [0] * 50000\n        for i in range(3): sorted(set(l[1:] + [2]))\n        self.l = nn.Linear(len(l), 2)"
    )
    assert result.exact
    assert result.steps < 3 * 50_000 / 5


def test_shared_modules_are_tied_wherever_they_are_met() -> None:
    result = of("m = nn.Linear(2, 3)\n        self.a = m\n        self.b = m\n        self.c = m\n        self.d = m")
    assert result.exact
    assert result.tree is not None
    assert count_parameters(result.tree).total == 9
    names = [tensor.tied_to for _, child in result.tree.children for tensor in child.tensors]  # type: ignore[union-attr]
    assert names == [None, None, "a.weight", "a.bias", "a.weight", "a.bias", "a.weight", "a.bias"]


def built(path: Path, budgets: Budgets | None = None) -> list[Interpretation]:
    return [result for _, result in interpret_file(str(path), (), budgets) if result is not None]


def test_the_file_runs_once_for_all_classes(tmp_path: Path) -> None:
    def steps(count: int) -> int:
        path = tmp_path / f"many{count}.py"
        path.write_text(
            "import torch.nn as nn\n"
            + "".join(
                f"class C{i}(nn.Module):\n"
                "    def __init__(self, sizes=(1, 2)):\n"
                "        super().__init__()\n"
                f"        self.a = nn.Linear({i + 1}, 2)\n"
                for i in range(count)
            )
        )
        found = built(path)
        assert [count_parameters(each.tree).total for each in found if each.tree] == [2 * i + 4 for i in range(count)]
        assert all(each.exact for each in found)
        return sum(each.steps for each in found)

    few, many = steps(40), steps(160)
    assert many < 5 * few


@pytest.mark.parametrize(
    "change",
    [
        "global SIZE; SIZE += 1",
        "M.size += 1",
        "SIZES.append(1)",
        "STATE['x']['y'] = 1",
        "extra.append(1)",
        "HOLDER.size += 1",
    ],
)
def test_a_construction_that_changes_the_program_does_not_reach_the_next(tmp_path: Path, change: str) -> None:
    path = tmp_path / "changing.py"
    path.write_text(
        "import torch.nn as nn\nSIZE = 1\nSIZES = [0]\nSTATE = {'x': {}}\n"
        "class Holder: pass\nHOLDER = Holder()\nHOLDER.size = 1\n"
        "class M(nn.Module):\n    size = 1\n    def __init__(self, extra=[]):\n        super().__init__()\n"
        f"        {change}\n"
        "        n = SIZE + M.size + len(SIZES) + len(STATE['x']) + len(extra) + HOLDER.size\n"
        "        self.a = nn.Linear(n, 1, bias=False)\n"
        "class N(M): pass\nclass O(M): pass\n"
    )
    found = built(path)
    assert [count_parameters(each.tree).total for each in found if each.tree] == [5, 5, 5]


def test_a_failure_does_not_reach_the_next(tmp_path: Path) -> None:
    path = tmp_path / "failing.py"
    path.write_text(
        "import torch.nn as nn\n"
        "class Bad(nn.Module):\n    def __init__(self):\n        super().__init__()\n        1 / 0\n"
        "class Endless(nn.Module):\n    def __init__(self):\n        super().__init__()\n        while True: pass\n"
        "class Unseen(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.x = input()\n"
        "class Good(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Linear(2, 2)\n"
    )
    bad, endless, unseen, good = built(path, BY_STEPS)
    assert bad.reason is not None
    assert "ZeroDivisionError" in bad.reason
    assert endless.reason is not None
    assert "steps" in endless.reason
    assert good.exact
    assert unseen.tree is not None


def test_a_count_without_some_shape_is_told_as_a_lower_bound() -> None:
    assert of("self.a = nn.Linear(int(input()), 2)").incomplete
    assert not of("self.a = nn.Linear(2, 2)").incomplete
