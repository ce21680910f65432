from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_configs import transformers_type
from neurarch_rules.facts.python_file import PythonFile, Site, argument, has_stars, python_file
from neurarch_schemas.catalogue.load import config_type

if TYPE_CHECKING:
    from neurarch_schemas.python_analysis import PythonAnalysis

RULE = RuleInfo(
    name="router-loss-not-computed",
    severity="warning",
    category="training",
    summary="A training script sets the router loss coefficient but not output_router_logits",
    reads=("python",),
    needs=("router_aux_loss_coef",),
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    if not _trains(file) or "output_router_logits" in file.text:
        return
    yield from _set_later(context)
    for placed in file.units:
        for node in placed.unit.parents:
            if not isinstance(node, ast.Call) or has_stars(node):
                continue
            model_type = transformers_type(file, node.func)
            known = None if model_type is None else config_type(model_type)
            if known is None or known.resolved.get("output_router_logits") is not False:
                continue
            coefficient = argument(node, "router_aux_loss_coef")
            if not isinstance(coefficient, ast.Constant) or not coefficient.value:
                continue
            keyword = next(item for item in node.keywords if item.arg == "router_aux_loss_coef")
            site = Site(placed, keyword)
            line = file.text[file.text.rfind("\n", 0, site.span[0]) + 1 : site.span[0]]
            separator = f",\n{line}" if line.isspace() else ", "
            added = f"{ast.unparse(keyword)}{separator}output_router_logits=True"
            yield Finding(
                f"router_aux_loss_coef = {ast.unparse(coefficient)} has no effect: output_router_logits is False (the "
                "default), so the load-balancing loss is never computed and experts may collapse; add "
                "output_router_logits=True",
                site.place,
                fixes=(site.replace(added, "Add output_router_logits=True", "unsafe"),),
            )


def _set_later(context: Context) -> Iterator[Finding]:
    """``config.router_aux_loss_coef = 0.02``."""
    for call in cast("PythonAnalysis", context.analysis).config_calls:
        spans = call.document.changed.get("/router_aux_loss_coef")
        data = call.document.data
        known = config_type(str(data.get("model_type"))) if isinstance(data, dict) else None
        if spans is None or known is None or known.resolved.get("output_router_logits") is not False:
            continue
        if isinstance(data, dict) and data.get("router_aux_loss_coef") and not call.uncertain:
            yield Finding(
                f"router_aux_loss_coef = {data['router_aux_loss_coef']} has no effect: output_router_logits is False "
                "(the default), so the load-balancing loss is never computed and experts may collapse; set it to True",
                Place(None, (spans[0][0], spans[1][1])),
            )


def _trains(file: PythonFile) -> bool:
    """A trainer is made or gradients are computed."""
    names = ("Trainer", "SFTTrainer", "Seq2SeqTrainer", "TrainingArguments", "SFTConfig", "backward")
    return any(True for _ in file.calls(*names))
