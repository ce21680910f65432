from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import Site
from neurarch_rules.facts.python_values import Layer, Value, events

RULE = RuleInfo(
    name="dropout-out-of-range",
    severity="error",
    category="correctness",
    summary="A dropout probability that is not between 0 and 1",
    reads=("python",),
    needs=("ropout", "Transformer", "MultiheadAttention", "LSTM", "GRU", "RNN"),
)


def check(context: Context) -> Iterator[Finding]:
    seen: set[int] = set()
    for made in events(context).made:
        value = _probability(made.layer)
        number = None if value is None else value.number
        if value is None or number is None or 0 <= number < 1:
            continue
        site: Site = value.origin or made.layer.site
        if id(site.node) in seen:
            continue
        seen.add(id(site.node))
        if number == 1:
            if "ropout" in made.layer.name and value.origin is not None:
                yield Finding(
                    f"a dropout of 1 sets every value to zero while training: nothing passes {made.layer.name}",
                    site.place,
                    (made.layer.site.related("used here"),),
                    severity="warning",
                )
            continue
        hint = f"; {number / 10:g} or {number / 100:g}?" if 1 < number < 100 else ""
        yield Finding(
            f"{made.layer.name} gets a dropout probability of {number:g}, which is refused: it has to lie between 0 "
            f"and 1{hint}",
            site.place,
            (made.layer.site.related("used here"),),
        )


def _probability(layer: Layer) -> Value | None:
    return layer.arguments.get("p" if "Dropout" in layer.name else "dropout")
