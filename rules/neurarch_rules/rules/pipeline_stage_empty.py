from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.places import place

RULE = RuleInfo(
    name="pipeline-stage-empty",
    severity="warning",
    category="serving",
    summary="Fewer layers than pipeline stages: some stages hold none",
    reads=("config", "params"),
    when="serving",
)


def check(context: Context) -> Iterator[Finding]:
    stages, config = context.options.serving.pipeline_parallel, decoder_config(context)
    layers = geometry.layers(config) if config is not None else None
    if stages is None or config is None or layers is None or not 0 < layers.value < stages:
        return
    yield Finding(
        f"{layers.value} layers cannot fill {stages} pipeline stages: {stages - layers.value} would hold no layer; "
        f"pipeline-parallel may be at most {layers.value}",
        place(config, layers.key),
    )
