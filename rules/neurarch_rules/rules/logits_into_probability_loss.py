from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import python_file
from neurarch_rules.facts.python_flow import Flow, losses

RULE = RuleInfo(
    name="logits-into-probability-loss",
    severity="warning",
    category="training",
    summary="The output of a linear layer is given to a loss that expects probabilities or log-probabilities",
    reads=("python",),
    needs=("nll_loss", "NLLLoss", "binary_cross_entropy", "BCELoss"),
)

WHY: dict[str, tuple[str, Severity]] = {
    "negative log-likelihood": (
        "expects log-probabilities: the loss has no lower bound and only pushes one score up; use cross_entropy, or "
        "log_softmax first",
        "warning",
    ),
    "binary cross entropy": (
        "expects probabilities and refuses values outside 0 ... 1; use binary_cross_entropy_with_logits "
        "(BCEWithLogitsLoss), or a sigmoid first",
        "error",
    ),
}


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    flow = Flow(file)
    for loss in losses(file):
        if loss.kind not in WHY:
            continue
        why, severity = WHY[loss.kind]
        for source in flow.sources(loss):
            if source.kind == "linear":
                yield Finding(
                    f"{ast.unparse(loss.input)} is the output of a linear layer, but {loss.shown} {why}",
                    loss.site.place,
                    ((source.made or source.site).related("the layer"),),
                    severity=severity,
                )
