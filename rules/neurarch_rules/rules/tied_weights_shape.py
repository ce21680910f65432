from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_values import Events, Layer, events

RULE = RuleInfo(
    name="tied-weights-shape",
    severity="warning",
    category="correctness",
    summary="A weight is tied to one of another shape",
    reads=("python",),
    needs=(".weight",),
)


def check(context: Context) -> Iterator[Finding]:
    return _faults(events(context, RULE.needs, _faults))


def _faults(found: Events) -> Iterator[Finding]:
    seen: set[int] = set()
    for tied in found.tied:
        target, source = _shape(tied.target), _shape(tied.source)
        if target is None or source is None or target == source or id(tied.site.node) in seen:
            continue
        seen.add(id(tied.site.node))
        yield Finding(
            f"{tied.target.name} was made with a weight of {target[0]:,} x {target[1]:,} and is tied to one of "
            f"{source[0]:,} x {source[1]:,}: the declared size is silently replaced, and checkpoints do not match; "
            "make both alike",
            tied.site.place,
            (
                tied.target.site.related(f"{target[0]:,} x {target[1]:,}"),
                tied.source.site.related(f"{source[0]:,} x {source[1]:,}"),
            ),
        )


def _shape(layer: Layer) -> tuple[int, int] | None:
    """Rows and columns of the weight of a Linear or an Embedding."""
    if layer.name == "Linear":
        rows, columns = layer.integer("out_features"), layer.integer("in_features")
    elif layer.name == "Embedding":
        rows, columns = layer.integer("num_embeddings"), layer.integer("embedding_dim")
    else:
        return None
    return None if rows is None or columns is None else (rows, columns)
