"""What rules keep of a Python file while it is edited changes no finding.

``NEURARCH_EDITS=3000`` makes a long run, ``NEURARCH_SEED`` chooses other edits.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

from neurarch_rules import rules
from neurarch_rules.engine import analyse
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run
from neurarch_rules.facts import python_reach
from neurarch_schemas.documents import python_units

EDITS = int(os.environ.get("NEURARCH_EDITS", "120"))
SEED = int(os.environ.get("NEURARCH_SEED", "20240601"))
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


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
    words = sorted({word for text in code for word in re.findall(r"\w+", text)})
    seen: list[tuple[str, list[str]]] = []
    text = ""
    forget()
    for number in range(EDITS):
        if number % 30 == 0:
            text = "\n".join(chance.sample(code, 8))
            common = re.findall(r"\w+", text)
        text = edited(chance, text, words if chance.random() < 0.2 else common)
        seen.append((text, findings(text)))
    assert sum(bool(found) for _, found in seen) > EDITS // 2
    for text, found in seen:
        forget()
        assert findings(text) == found
