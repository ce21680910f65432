from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.python_configs import checkpoint_family
from neurarch_rules.facts.python_file import Site, python_file
from neurarch_rules.facts.python_flow import made_by

RULE = RuleInfo(
    name="class-for-other-checkpoint",
    severity="warning",
    category="correctness",
    summary="from_pretrained() loads a checkpoint of one model family into the class of another",
    reads=("python",),
    needs=("from_pretrained",),
)

MODEL_CLASS = re.compile(r"(?P<family>[A-Z]\w*?)(?:For[A-Z]\w*|Model|LMHeadModel|ConditionalGeneration)$")


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for placed, call in file.calls("from_pretrained"):
        if not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        name, given = file.qualified(call.func.value), made_by(file, placed, call.args[0])
        checkpoint = given.value if isinstance(given, ast.Constant) else None
        if name is None or not name.startswith("transformers.") or not isinstance(checkpoint, str):
            continue
        written = name.rpartition(".")[2]
        match = MODEL_CLASS.fullmatch(written)
        family = checkpoint_family(checkpoint)
        if match is None or family is None or match["family"] == family or match["family"] not in _families():
            continue
        yield Finding(
            f"{checkpoint} is a {family} checkpoint, {written} builds {match['family']}: shapes and names of the "
            f"weights do not match; use the {family} class (or an Auto class)",
            Site(placed, call.func).place,
        )


def _families() -> frozenset[str]:
    return frozenset(family for _, family in facts("checkpoint_families")["names"]) | frozenset(
        facts("checkpoint_families")["others"]
    )
