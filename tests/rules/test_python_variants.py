"""Neighbours of reported faults in Python code: told on their line and by the right rule, look-alikes silent."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from neurarch_rules.engine import analyse
from neurarch_rules.engine.locate import span_of
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run

HEAD = "import math\n\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
BLOCK = re.compile(r"^## ([^\n]+)\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CASES = BLOCK.findall((Path(__file__).with_name("python_variants.md")).read_text(encoding="utf-8"))


def test_the_page_is_read_to_its_end() -> None:
    assert len(CASES) >= 300
    assert len({name for name, _ in CASES}) == len(CASES)


@pytest.mark.parametrize(("name", "code"), CASES, ids=[name for name, _ in CASES])
def test_variant(name: str, code: str) -> None:
    expected: Counter[tuple[int, str]] = Counter()
    lines = (HEAD + code).split("\n")
    for number, line in enumerate(lines):
        code_part, _, rules = line.partition("  # -> ")
        lines[number] = code_part
        expected.update((number, rule) for rule in rules.split(", ") if rule)
    analysis = analyse.analyse_text("-.py", "\n".join(lines))
    assert analysis is not None
    result = run(analysis, Options())
    assert not result.crashes
    position = analysis.document.lines.position
    found = Counter((position(span_of(each.place, analysis.document)[0])[0], each.rule) for each in result.findings)
    assert found == expected, name
