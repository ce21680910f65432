"""Classes of a file built one after another in one program give what each gives in a program of its own."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from neurarch_schemas.interpreter import HOSTILE, interpret, interpret_file
from neurarch_schemas.modules.tree import rows

HEAD = """
import copy, inspect, itertools
import torch.nn as nn
SIZES = [2]
COUNT = {"parts": 0}
MADE = []


class Config:
    def __init__(self, width=3, depths=(1, 2)):
        self.width = width
        self.depths = list(depths)
        self.extra = {"a": 1}


class Part(nn.Module):
    size = 2

    def __init__(self, config: Config, index=0):
        super().__init__()
        self.config = config
        self.index = index
        total = 0
        for each in range(30):
            total = total + each
        self.a = nn.Linear(config.width, SIZES[0] + self.size)
        self.b = nn.Linear(len(config.depths), config.extra["a"])
        CHANGE


class Model(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.parts = nn.ModuleList([Part(config) for _ in range(4)])
        THEN
        self.more = nn.ModuleList([Part(config) for _ in range(4)])


class Second(Model):
    pass


class Third(Model):
    def __init__(self, config: Config):
        super().__init__(config)
        self.model = Model(config)
        self.model.parts[0].a.weight = self.parts[1].a.weight
"""
PASS = "pass"
CHANGES = [
    (PASS, PASS),
    (PASS, "SIZES[0] = 5"),
    (PASS, "SIZES[0] += 1"),
    (PASS, "SIZES.append(1); SIZES.pop(0)"),
    (PASS, "SIZES[0] = 5; self.x = Part(config); SIZES[0] = 2"),
    (PASS, "global SIZES; SIZES = [7]"),
    (PASS, "Part.size = 4"),
    (PASS, "setattr(Part, 'size', 4); self.x = Part(config); del Part.size; Part.size = 2"),
    (PASS, "config.width = 9"),
    (PASS, "config.depths.append(1)"),
    (PASS, "config.extra['a'] = 7"),
    (PASS, "vars(config)['width'] = 8"),
    (PASS, "config = copy.deepcopy(config); config.width = 4"),
    (PASS, "self.parts[0].config.width = 6"),
    (PASS, "self.parts[1] = self.parts[0]"),
    (PASS, "self.parts[2].a.weight = self.parts[3].a.weight"),
    (PASS, "self.parts[0].config = Config(7); config = self.parts[1].config"),
    (PASS, "self.same = self.parts[0].config is self.parts[1].config; SIZES[0] = 3 if self.same else 4"),
    ("COUNT['parts'] += 1; self.c = nn.Linear(COUNT['parts'], 1)", PASS),
    ("MADE.append(self); self.c = nn.Linear(len(MADE), 1)", PASS),
    ("type(self).size += 1", PASS),
    ("config.width += 1", PASS),
    ("self.c = nn.Linear(1 + id(self) * 0, 1)", PASS),
    ("self.x = input()", PASS),
    ("self.c = nn.Linear(int(input()), 1)", PASS),
    ("self.forward = lambda x: x", PASS),
    ("self.keep = [self.a, config]", "self.parts[0].keep[1].width = 5"),
    ("self.c = nn.Linear(inspect.currentframe().f_back.f_lineno + 1, 1)", "self.x = Part(config)"),
    ("self.d = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))", PASS),
]


@pytest.mark.parametrize(("change", "then"), CHANGES)
def test_as_in_programs_of_their_own(tmp_path: Path, change: str, then: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(HEAD.replace("CHANGE", change).replace("THEN", then))
    built = {each.name: result for each, result in interpret_file(str(path))}
    assert set(built) == {"Part", "Model", "Second", "Third"}
    for name, result in built.items():
        assert result is not None
        alone = interpret(str(path), f"{name}(Config())")
        assert result.tree is not None
        assert (result.tree, result.exact, result.reason) == (alone.tree, alone.exact, alone.reason)
        assert (result.steps <= alone.steps, result.places) == (True, alone.places)


@pytest.mark.parametrize(
    ("part", "model"),
    [
        ("self.s = [0.5] * 100000", "nn.ModuleList([P(1) for _ in range(2000)])"),
        ("self.l = nn.ModuleList([P(n - 1) for _ in range(8)] if n else [])", "P(12)"),
        (
            "s = []\n        for i in range(5000): s = [s]\n        self.s = s",
            "nn.ModuleList([P(1) for _ in range(1000)])",
        ),
    ],
)
def test_copies_of_hostile_parts_end(tmp_path: Path, part: str, model: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import torch.nn as nn\nclass P(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        f"        for i in range(40): pass\n        {part}\n"
        f"class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.p = {model}\n"
    )
    started = time.process_time()
    _, (_, result) = interpret_file(str(path), (), HOSTILE)
    assert time.process_time() - started < 1.5  # 0.5 s on a quiet machine
    assert result is not None
    assert result.reason is not None
    assert "evaluation takes more than" in result.reason


def test_a_counter_that_is_read_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        HEAD.replace("MADE = []", "NEXT = itertools.count(1)")
        .replace("CHANGE", "self.c = nn.Linear(next(NEXT), 1)")
        .replace("THEN", PASS)
    )
    for each, result in interpret_file(str(path)):
        assert result is not None
        assert result.tree == interpret(str(path), f"{each.name}(Config())").tree


@pytest.mark.parametrize(
    ("state", "change"),
    [
        ("T = torch.zeros(1, dtype=torch.long)", "T.add_(1); self.c = nn.Linear(int(T.item()), 1)"),
        ("T = torch.tensor([1, 2])", "T[0] += 1; self.c = nn.Linear(int(T[0]), 1)"),
        ("T = np.zeros(2, dtype=int)", "T[0] += 1; self.c = nn.Linear(int(T[0]), 1)"),
        (
            "T = nn.Linear(1, 1)",
            "self.c = nn.Linear(1 + int(T.weight.requires_grad), 1); T.requires_grad_(False)",
        ),
        (
            "D = collections.OrderedDict(a=1, b=2, c=3)",
            "self.c = nn.Linear(next(iter(D.values())), 1); D.move_to_end(next(iter(D)))",
        ),
    ],
)
def test_tensors_and_orders_of_the_program_are_put_back(tmp_path: Path, state: str, change: str) -> None:
    path = tmp_path / "model.py"
    text = HEAD.replace("MADE = []", f"import collections, torch\nimport numpy as np\n{state}")
    path.write_text(text.replace("CHANGE", change).replace("THEN", PASS))
    for each, result in interpret_file(str(path)):
        assert result is not None
        assert result.exact
        assert result.tree == interpret(str(path), f"{each.name}(Config())").tree


def test_a_global_that_exec_assigns(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import torch.nn as nn\nN = 1\n"
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        exec('global N; N = 5')\n        self.a = nn.Linear(N, 1)\n"
    )
    tree = interpret(str(path), "Model()").tree
    assert tree is not None
    assert rows(tree)[0].shape == (1, 5)


def test_a_global_that_an_expression_assigns(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import torch.nn as nn\nN = 0\ndef up():\n    global N\n    return (N := N + 1)\n"
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Linear(up(), 1)\n        self.b = nn.Linear([up() for _ in range(3)][-1], 1)\n"
    )
    tree = interpret(str(path), "Model()").tree
    assert tree is not None
    assert {row.name: row.shape for row in rows(tree)}["b.weight"] == (1, 4)


def test_what_a_later_import_does_to_the_program_stays(tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text("import table\ntable.SIZES['x'] = 5\n")
    (tmp_path / "table.py").write_text("SIZES = {}\n")
    path = tmp_path / "model.py"
    path.write_text(
        "import torch.nn as nn\nimport table\n"
        + "".join(
            f"class {name}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        import sizes\n        sizes.__name__\n"
            "        self.a = nn.Linear(table.SIZES['x'], 1, bias=False)\n"
            for name in ("A", "B", "C")
        )
    )
    for _, result in interpret_file(str(path)):
        assert result is not None
        assert result.exact
        assert result.tree is not None
        assert result.tree.children[0][1].tensors[0].shape == (1, 5)  # type: ignore[union-attr]


def test_a_configuration_whose_making_is_remembered_in_a_table_of_modules(tmp_path: Path) -> None:
    """The table is a cache: each class still gives what it gives alone, also one that looks into the table."""
    (tmp_path / "sizes.py").write_text("WIDTH = 5\n")
    path = tmp_path / "model.py"
    path.write_text(
        "import importlib\nimport torch.nn as nn\nKNOWN = {}\n"
        "class Config:\n    def __init__(self):\n"
        "        if 'sizes' not in KNOWN:\n            KNOWN['sizes'] = importlib.import_module('sizes')\n"
        "        self.width = KNOWN['sizes'].WIDTH\n"
        "class A(nn.Module):\n    def __init__(self, config: Config):\n        super().__init__()\n"
        "        self.a = nn.Linear(config.width, 2)\n"
        "class B(A):\n    pass\n"
        "class C(A):\n    def __init__(self, config: Config):\n        super().__init__(Config())\n"
        "        self.b = nn.Linear(config.width, KNOWN['sizes'].WIDTH)\n"
    )
    found = list(interpret_file(str(path), [str(tmp_path)]))
    assert [each.name for each, _ in found] == ["A", "B", "C"]
    for each, result in found:
        alone = interpret(str(path), each.construction, [str(tmp_path)])
        assert result is not None
        assert result.exact
        assert result.tree == alone.tree
