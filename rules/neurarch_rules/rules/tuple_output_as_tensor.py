from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_forward import TupleUsed, each_fault
from neurarch_rules.facts.python_values import Events, Layer, events

RULE = RuleInfo(
    name="tuple-output-as-tensor",
    severity="error",
    category="correctness",
    summary="The tuple that a recurrent layer or attention returns is used as if it were a tensor",
    reads=("python",),
    needs=("LSTM", "GRU", "RNN", "MultiheadAttention"),
)
RETURNS = {
    "LSTM": "(output, (h, c))",
    "GRU": "(output, h)",
    "RNN": "(output, h)",
    "LSTMCell": "(h, c)",
    "MultiheadAttention": "(output, weights)",
}
RECURRENT = ("LSTM", "GRU", "RNN", "MultiheadAttention")


def check(context: Context) -> Iterator[Finding]:
    return _faults(events(context, RULE.needs, _faults))


def _faults(found: Events) -> Iterator[Finding]:
    for fault in each_fault(found):
        if isinstance(fault, TupleUsed):
            yield Finding(
                f"{fault.giver.name} returns {RETURNS[fault.giver.name]}, and this tuple {fault.how}: it fails when it "
                "runs; take the output alone: output, *_ = ...",
                fault.site.place,
                (fault.giver.site.related("the layer"),),
            )
    yield from _in_sequential(found)


def _in_sequential(found: Events) -> Iterator[Finding]:
    """A recurrent layer with another layer behind it in one Sequential."""
    seen: set[int] = set()
    for made in found.made:
        children = made.layer.children if made.layer.name == "Sequential" else ()
        for child, following in pairwise(children):
            layer, behind = child.of, following.of
            if not isinstance(layer, Layer) or not isinstance(behind, Layer) or behind.name == "Identity":
                continue
            if layer.name in RECURRENT and id(layer.site.node) not in seen:
                seen.add(id(layer.site.node))
                yield Finding(
                    f"{layer.name} returns {RETURNS[layer.name]}, and Sequential hands this tuple to {behind.name}: "
                    "the first forward pass fails; call the layer in a forward of your own",
                    layer.site.place,
                    (behind.site.related("is handed the tuple"),),
                )
