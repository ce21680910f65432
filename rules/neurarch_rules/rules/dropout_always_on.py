from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, argument, has_stars, last_name, python_file, self_attribute
from neurarch_schemas.documents.python_nodes import nodes_of

RULE = RuleInfo(
    name="dropout-always-on",
    severity="warning",
    category="correctness",
    summary="A functional dropout that model.eval() does not switch off",
    reads=("python",),
    needs=("dropout",),
)

ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
DROPOUTS = frozenset(
    f"torch.nn.functional.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")
)
LAST_NAMES = frozenset(name.rpartition(".")[2] for name in (*DROPOUTS, ATTENTION))
MEANT = ("mc_dropout", "mcdropout", "MCDropout", "MonteCarlo", "monte_carlo", "always")
SAID = re.compile(
    r"non[- ]?determinis|(?:at|during|in|for) (?:inference|test|generation|synthesis)|test[- ]time", re.IGNORECASE
)
"""What comments and docstrings say where dropout is to stay on, as in the prenet of Tacotron 2."""


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    if any(word in file.text for word in MEANT):
        return
    for found in file.modules:
        method = found.methods.get("forward")
        if method is None or any(node.attr == "training" for node in nodes_of(method, ast.Attribute)):
            continue
        for node in nodes_of(method, ast.Call):
            if has_stars(node):
                continue
            name = file.qualified(node.func) if last_name(node) in LAST_NAMES else None
            if name is None or SAID.search(found.placed.unit.text):
                continue
            if name in DROPOUTS:
                yield from _dropout(found, node)
            elif name == ATTENTION:
                yield from _attention(found, node)


def _dropout(found: ClassFacts, node: ast.Call) -> Iterator[Finding]:
    if argument(node, "training", 2) is not None or not _drops(found, argument(node, "p", 1), default=True):
        return
    site = found.site(node)
    text = found.file.text[site.span[0] : site.span[1] - 1].rstrip()
    fixes: tuple[Fix, ...] = ()
    if not text.endswith(","):
        fixes = (site.replace(f"{text}, training=self.training)", "Pass training=self.training", "unsafe"),)
    yield Finding(
        f"{ast.unparse(node.func)} drops values unless it is told otherwise: model.eval() does not reach it, so "
        "evaluation stays random; pass training=self.training",
        site.place,
        fixes=fixes,
    )


def _attention(found: ClassFacts, node: ast.Call) -> Iterator[Finding]:
    given = argument(node, "dropout_p", 4)
    if given is not None and _drops(found, given, default=False):
        shown = ast.unparse(given)
        yield Finding(
            f"dropout_p = {shown} applies after model.eval() too: this function knows no training mode; pass "
            f"{shown} if self.training else 0.0",
            found.site(given).place,
            fixes=(found.site(given).replace(f"{shown} if self.training else 0.0", "Drop in training only", "unsafe"),),
        )


def _drops(found: ClassFacts, probability: ast.expr | None, default: bool) -> bool:
    """The probability surely is one that the class's author chose: a number, or an attribute set from an argument."""
    if probability is None:
        return default
    if isinstance(probability, ast.Constant):
        return isinstance(probability.value, float | int) and probability.value > 0
    attribute = self_attribute(probability)
    values = found.assigned.get(attribute or "", [])
    if attribute is None or len(values) != 1 or found.methods.get("train") is not None:
        return False
    value = values[0]
    if isinstance(value, ast.Constant):
        return isinstance(value.value, float | int) and value.value > 0
    return isinstance(value, ast.Name | ast.Attribute) and "drop" in ast.unparse(value).lower()
