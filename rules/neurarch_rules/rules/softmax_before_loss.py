from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import python_file
from neurarch_rules.facts.python_flow import Flow, Loss, Source, losses

RULE = RuleInfo(
    name="softmax-before-loss",
    severity="warning",
    category="training",
    summary="Probabilities are given to a loss that expects logits (or log-probabilities)",
    reads=("python",),
    needs=("softmax", "Softmax", "sigmoid", "Sigmoid"),
)

LOSS_NAMES = (
    "cross_entropy",
    "CrossEntropyLoss",
    "BCEWithLogits",
    "nll_loss",
    "NLLLoss",
    "kl_div",
    "KLDivLoss",
    "log_softmax",
)
WRONG = {
    "cross entropy": ("softmax",),
    "binary cross entropy with logits": ("sigmoid",),
    "negative log-likelihood": ("softmax",),
    "Kullback-Leibler divergence": ("softmax",),
    "log-softmax": ("softmax",),
}
WHY = {
    "cross entropy": "which applies log_softmax itself: gradients shrink and the loss stays flat; pass the logits",
    "binary cross entropy with logits": "which applies the sigmoid itself: the loss cannot fall below 0.31 for a "
    "positive; pass the logits",
    "negative log-likelihood": "which expects log-probabilities: the loss is a plain negative mean; use log_softmax",
    "Kullback-Leibler divergence": "which expects log-probabilities: the loss turns negative; use log_softmax",
    "log-softmax": "which applies the softmax itself: gradients shrink and the loss stays flat; pass the logits",
}


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    if not any(name in file.text for name in LOSS_NAMES):
        return
    flow = Flow(file)
    seen: set[int] = set()
    for loss in losses(file):
        for squashed in flow.sources(loss):
            if squashed.kind in WRONG.get(loss.kind, ()) and id(squashed.site.node) not in seen:
                seen.add(id(squashed.site.node))
                yield _finding(loss, squashed)


def _finding(loss: Loss, squashed: Source) -> Finding:
    text = ast.unparse(squashed.site.node)
    shown = text if len(text) <= 60 else f"the {squashed.kind}"
    return Finding(
        f"the output of {shown} goes into {loss.shown}, {WHY[loss.kind]}",
        squashed.site.place,
        (loss.site.related("the loss"), *([squashed.made.related("the layer")] if squashed.made else [])),
    )
