"""What rules keep of a Python file while it is edited changes no finding.

``NEURARCH_EDITS=3000`` makes a long run, ``NEURARCH_SEED`` chooses other edits.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

from neurarch_rules import rules
from neurarch_rules.engine import analyse
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run
from neurarch_rules.facts import python_reach
from neurarch_schemas.documents import python_units

EDITS = int(os.environ.get("NEURARCH_EDITS", "120"))
SEED = int(os.environ.get("NEURARCH_SEED", "20240601"))
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


HEAD = "import argparse\nimport torch.nn as nn\nfrom dataclasses import dataclass\n\n\n"
BLOCK_AND_NET = """class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(8, 8)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [Block()]
"""
BASE = """class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 8


class Net(Base):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(8, 8)
"""
SIZES = """WIDTH = 64
HEADS = WIDTH // 16


def change():
    pass


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.MultiheadAttention(WIDTH, HEADS)
"""
CONFIG = """@dataclass
class Config:
    width: int = 64
    heads: int = 4


class Inner(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        assert config.width % config.heads == 0


class Outer(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.inner = Inner(config)
"""
SCRIPT = """class Net(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.drop = nn.Dropout(p)


parser = argparse.ArgumentParser()
parser.add_argument("--drop", default=0.5)
options = parser.parse_args()
net = Net(options.drop)


def build():
    return nn.Sequential(nn.Dropout(options.drop))
"""
ELSEWHERE = (
    (BLOCK_AND_NET, "Block(nn.Module)", "Block"),
    (BLOCK_AND_NET, "nn.Linear(8, 8)", "nn.ReLU()"),
    (BASE, "super().__init__()\n        self.width = 8", "self.width = 8"),
    (BASE.replace("super().__init__()\n", "pass\n", 1), "Base(nn.Module)", "Base"),
    (SIZES, "WIDTH = 64", "WIDTH = 65"),
    (SIZES, "// 16", "// 21"),
    (SIZES.replace("// 16", "// 21"), "    pass", "    global HEADS\n    HEADS = 4"),
    (CONFIG, "heads: int = 4", "heads: int = 5"),
    (CONFIG, "    heads: int = 4\n", ""),
    (SCRIPT, "default=0.5", "default=5.0"),
)
"""A text, and an edit that changes what another statement is found to be."""


def examples() -> list[str]:
    """The code of all rule pages: faults and what only looks like one."""
    pages = sorted(Path(rules.__path__[0]).glob("*.md"))
    return [match[1] for page in pages for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def edited(chance: random.Random, text: str, all_words: list[str]) -> str:
    """A word replaced by another of the file, a number changed, lines taken out, moved or brought in."""
    kind = chance.random()
    if kind < 0.5:
        word = chance.choice(list(re.finditer(r"\w+", text)) or [re.match("", text)])
        assert word is not None
        return text[: word.start()] + chance.choice(all_words) + text[word.end() :]
    lines = text.split("\n")
    at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
    if kind < 0.65:
        del lines[at : at + chance.choice((1, 1, 3, 20))]
    elif kind < 0.8:
        lines[to:to] = lines[at : at + chance.choice((1, 1, 5, 30))]
    elif kind < 0.9:
        lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
    else:
        lines[at] += chance.choice(("", " # x", " + 1", "é", "(", "\n    pass"))
    return "\n".join(lines)


def findings(text: str) -> list[str]:
    analysis = analyse.analyse_text("-.py", text)
    if analysis is None:
        return []
    result = run(analysis, Options())
    assert not result.crashes
    return [repr(found) for found in result.findings]


def forget() -> None:
    python_units._unit.cache_clear()
    python_reach._is_silent.cache_clear()


def test_findings_after_edits_are_those_of_a_text_met_for_the_first_time() -> None:
    chance = random.Random(SEED)
    code = examples()
    pieces = sorted({text for text, _, _ in ELSEWHERE})
    words = sorted({word for text in code for word in re.findall(r"\w+", text)})
    seen: list[tuple[str, list[str]]] = []
    text = ""
    forget()
    for number in range(EDITS):
        if number % 30 == 0:
            text = "\n".join((HEAD, *chance.sample(code, 6), *chance.sample(pieces, 2)))
            common = re.findall(r"\w+", text)
        text = edited(chance, text, words if chance.random() < 0.2 else common)
        seen.append((text, findings(text)))
    assert sum(bool(found) for _, found in seen) > EDITS // 2
    for text, found in seen:
        forget()
        assert findings(text) == found


@pytest.mark.parametrize(("text", "old", "new"), ELSEWHERE)
def test_an_edit_of_one_statement_changes_the_findings_of_another(text: str, old: str, new: str) -> None:
    assert old in text
    texts = (HEAD + text, HEAD + text.replace(old, new, 1))
    fresh = []
    for each in texts:
        forget()
        fresh.append(findings(each))
    assert fresh[0] != fresh[1]
    forget()
    assert [findings(each) for each in texts * 2] == fresh * 2
    forget()
    assert [findings(each) for each in texts[::-1] * 2] == fresh[::-1] * 2
