from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.places import as_written
from neurarch_rules.facts.published import measured, model_types, same_sizes
from neurarch_rules.facts.rope import gives_theta, rope_theta
from neurarch_rules.facts.words import either
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="published-theta-lost",
    severity="info",
    category="correctness",
    summary="rope_theta is left to the default, which no published model with these sizes uses",
    needs=("vocab_size",),
)

LEAST_WRITTEN = 5
"""Sizes that stand in the file, the vocabulary among them."""


def check(context: Context) -> Iterator[Finding]:
    config, outer = decoder_config(context), context.analysis.config
    if config is None or outer is None or not config.is_native or gives_theta(config):
        return
    theta = rope_theta(config)
    mine = None if theta is None else measured(config, outer)
    if theta is None or mine is None or len(mine.written) < LEAST_WRITTEN or "vocab_size" not in mine.written:
        return
    models = [entry for entry in same_sizes(mine, model_types(config, outer)) if entry.thetas]
    known = frozenset().union(*(entry.thetas for entry in models))
    if not known or theta in known:
        return
    shown = [f"{value:.12g}" for value in sorted(known)]
    parent, first = config.pointer, sorted(known)[0]
    block = as_written(config, "rope_parameters")
    if block is not None and block.pointer is not None and isinstance(block.value, dict):
        parent = block.pointer
    value = int(first) if first.is_integer() else first
    yield Finding(
        f"rope_theta is not given, so {theta:.12g}, but {models[0].name}, which has all sizes of this file, has "
        f"{either(shown)}: with its weights every position is turned by a wrong angle, and nothing fails",
        Place(join_pointer(parent, "rope_theta")),
        fixes=set_value(
            context.analysis, parent, "rope_theta", value, f"rope_theta = {value}, as in {models[0].name}", "display"
        )
        if len(known) == 1
        else (),
    )
