"""What cannot be told is labelled; what does not matter does not make a result inexact."""

from __future__ import annotations

import pytest

from neurarch_schemas.interpreter import Interpretation, interpret
from neurarch_schemas.modules.tree import rows

HEAD = "import os, random\nimport torch\nimport torch.nn as nn\nimport missing_package\n"


def build(body: str, expression: str = "M()") -> Interpretation:
    lines = "\n".join("        " + line for line in body.splitlines())
    text = HEAD + f"class M(nn.Module):\n    def __init__(self, *args):\n        super().__init__()\n{lines}\n"
    return interpret(text, expression, path="model.py")


@pytest.mark.parametrize(
    "body",
    [
        "self.l = nn.Linear(random.randint(1, 5), 2)",
        "self.l = nn.Linear(2, 2) if random.random() > 0.5 else nn.Linear(3, 3)",
        "if random.random() > 0.5:\n    self.l = nn.Linear(2, 2)",
        "self.l = missing_package.Layer(3)",
        "missing_package.inject(self)",
        "for _ in range(random.randint(1, 5)):\n    self.l = nn.Linear(2, 2)",
        "self.w = nn.Parameter(torch.load('x'))",
        "self.l = nn.LazyLinear(3)",
        "n = 2\nif random.random() > 0.5:\n    n = 3\nself.l = nn.Linear(n, 2)",
        "self.l = nn.ModuleList(missing_package.layers())",
        "self.l = nn.Linear(2.5, 3)",
        "self.l = nn.Conv2d(3, 8, 3, groups=2)",
        "raise ValueError('no')",
    ],
)
def test_labelled(body: str) -> None:
    result = build(body)
    assert not result.exact
    assert result.reason


@pytest.mark.parametrize(
    "body",
    [
        "if random.random() > 0.5:\n    print('hello')\nself.l = nn.Linear(2, 2)",
        "if not torch.rand(1) > 2:\n    raise ValueError\nself.l = nn.Linear(2, 2)",
        "self.l = nn.Linear(2, 2)\nif random.random() > 0.5:\n    nn.init.zeros_(self.l.weight)",
        "self.l = nn.Linear(2, 2, bias=True) if random.random() > 0.5 else nn.Linear(2, 2)",
        "self.rate = random.random()\nself.l = nn.Linear(2, 2)",
        "self.l = nn.Linear(2, 2)\nself.table = torch.randn(4).softmax(-1)",
        "try:\n    import missing_package\n    n = 9\nexcept ImportError:\n    n = 2\nself.l = nn.Linear(n, 2)",
    ],
)
def test_exact_all_the_same(body: str) -> None:
    result = build(body)
    assert result.exact, result.reason
    assert result.tree is not None
    assert [(row.name, row.shape) for row in rows(result.tree)] == [("l.weight", (2, 2)), ("l.bias", (2,))]


def test_missing_argument_is_named() -> None:
    text = "import torch.nn as nn\nclass M(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
    assert interpret(text, "M()", path="model.py").missing_argument == ("M.__init__", "width")


def test_equal_layers_are_one_module() -> None:
    result = build("self.l = nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.ReLU()) for _ in range(300)])")
    assert result.tree is not None
    stack = result.tree.children[0][1]
    assert [(len(run.modules), run.times) for run in stack.runs] == [(1, 300)]  # type: ignore[union-attr]  # a Stack


def test_an_expression_of_several_statements() -> None:
    text = "import torch.nn as nn\n"
    result = interpret(text, "n = 3; layer = nn.Linear(n, n); nn.Sequential(layer, layer)", path="model.py")
    assert result.exact
    assert result.tree is not None
    assert sum(row.scalars for row in rows(result.tree)) == 12


def test_places_of_submodules() -> None:
    result = build("self.l = nn.ModuleList([nn.Linear(2, 2)])\nself.head = nn.Linear(2, 1)")
    head = next(n for n, line in enumerate(HEAD.splitlines(), 1) if "missing_package" in line) + 4
    assert {path: place.line for path, place in result.places.items() if path in ("l", "head")} == {
        "l": head,
        "head": head + 1,
    }


@pytest.mark.parametrize("module", ["import random", "from numpy import random"])
def test_the_order_of_a_shuffled_list_is_not_told(module: str) -> None:
    text = (
        f"{module}\nimport torch.nn as nn\n"
        "class Model(nn.Module):\n    def __init__(self, sizes):\n        super().__init__()\n"
        "        random.shuffle(sizes)\n        self.a = nn.Linear(sizes[0], len(sizes))\n"
    )
    assert not interpret(text, "Model([1, 9])", path="model.py").exact
    assert interpret(text, "Model([4])", path="model.py").exact
    assert interpret(text, "Model([4, 4])", path="model.py").exact


def test_lists_that_heapq_and_bisect_keep_in_order() -> None:
    text = (
        "import bisect, heapq\nimport torch.nn as nn\n"
        "class Model(nn.Module):\n    def __init__(self, sizes):\n        super().__init__()\n"
        "        heapq.heapify(sizes)\n        heapq.heappush(sizes, 2)\n        first = heapq.heappop(sizes)\n"
        "        sizes.sort()\n        bisect.insort(sizes, 4)\n"
        "        self.a = nn.Linear(first, bisect.bisect(sizes, 5), bias=False)\n"
        "        self.b = nn.Linear(len(sizes), 1, bias=False)\n"
    )
    result = interpret(text, "Model([9, 3])", path="model.py")
    assert result.exact
    assert result.tree is not None
    assert [row.shape for row in rows(result.tree)] == [(2, 2), (1, 3)]
    assert not interpret(text, "Model([(9, 1), (3, 1)])", path="model.py").exact
