from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_configs import transformers_type
from neurarch_rules.facts.python_file import PythonFile, Site, argument, has_stars, python_file
from neurarch_schemas.catalogue.load import config_type

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


def _trains(file: PythonFile) -> bool:
    """A trainer is made or gradients are computed."""
    names = ("Trainer", "SFTTrainer", "Seq2SeqTrainer", "backward")
    return any(True for _ in file.calls(*names))
