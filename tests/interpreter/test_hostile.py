"""Constructors written to hang or to fill the memory end quickly, with a reason."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from neurarch_schemas.interpreter import HOSTILE, interpret

HEAD = "import torch\nimport torch.nn as nn\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
BODIES = {
    "endless loop": "while True: pass",
    "a billion layers": "self.l = nn.ModuleList([nn.Linear(2, 2) for _ in range(10**9)])",
    "a billion appended": "for i in range(10**9): self.add_module(str(i), nn.Linear(2, 2))",
    "power": "self.l = nn.Linear(10**10**10, 2)",
    "squares": "n = 3\n        for i in range(100): n = n * n",
    "shift": "1 << 10**12",
    "recursion": "f = lambda n: f(n + 1)\n        f(0)",
    "string": "'a' * 10**12",
    "list": "[0] * 10**12",
    "format": "'%99999999999d' % 1",
    "format method": "'{:99999999999d}'.format(1)",
    "product": "import itertools\n        list(itertools.product(range(1000), repeat=5))",
    "endless count": "import itertools\n        list(itertools.count())",
    "sum": "sum(range(10**12))",
    "maximum": "import itertools\n        max(itertools.cycle([1]))",
    "doubling list": "s = [1]\n        for i in range(100): s = s + s",
    "doubling text": "s = 'a'\n        for i in range(100): s += s",
    "nested list": "s = []\n        for i in range(10**6): s = [s]\n        repr(s)",
    "dictionary": "{i: i for i in range(10**9)}",
    "factorial": "import math\n        math.factorial(10**7)",
    "contains itself": "self.me = self",
    "recurrent layers": "self.l = nn.LSTM(2, 2, num_layers=10**9)",
    "membership": "-1 in iter(int, 1)",
    "sorted": "sorted(range(10**9))",
    "join": "''.join('a' for _ in range(10**9))",
    "tensor values": "torch.zeros(10**9).tolist()\n        for x in torch.zeros(10**9): pass",
    "any": "any(x for x in iter(int, 1))",
    "set": "set(iter(int, 1))",
    "star": "print(*range(10**9))",
    "unpacking": "a, *b = range(10**9)",
    "deep copies": "import copy\n        l = [nn.Linear(2, 2)]\n        for i in range(40): l = [copy.deepcopy(l)] * 2",
    "replace": "s = 'ab'\n        for i in range(50): s = s.replace('a', 'aa' * 1000)",
    "regular expression": "import re\n        if re.match(r'(a+)+$', 'a' * 40 + 'b'): self.l = nn.Linear(2, 2)",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_ends(body: str) -> None:
    started = time.process_time()
    result = interpret(HEAD + "        " + body + "\n", "M()", budgets=HOSTILE, path="hostile.py")
    assert time.process_time() - started < 1.5  # 0.5 s on a quiet machine
    assert result.exact or result.reason
    if body.startswith(("while", "self.l = nn.ModuleList", "for i in range(10**9)", "self.l = nn.LSTM")):
        assert not result.exact


def test_memory_stays_small() -> None:
    tracemalloc.start()
    try:
        for name in ("a billion layers", "endless count", "doubling text", "dictionary"):
            interpret(HEAD + "        " + BODIES[name] + "\n", "M()", budgets=HOSTILE, path="hostile.py")
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "body",
    [
        "().__class__.__base__.__subclasses__()[0]()",
        "print.__globals__",
        "open('/etc/passwd')",
        "__import__('os').system('true')",
        "(lambda: 0).__globals__['__builtins__']['eval']",
        "'{0.__init__.__globals__}'.format(self)",
        "nn.Linear.__init__.__code__.co_consts",
    ],
)
def test_nothing_of_the_host_is_reached(body: str) -> None:
    result = interpret(HEAD + f"        self.x = {body}\n        self.l = nn.Linear(2, 2)\n", "M()", path="hostile.py")
    assert result.tree is None or all("host" not in name for name, _ in result.tree.children)


@pytest.mark.parametrize("text", ["class", "x = (" * 5000, "\x00", "def f(:\n  pass", "if 1:\n" + " " * 3])
def test_broken_text(text: str) -> None:
    assert not interpret(text + "\n", "M()", path="broken.py").exact
