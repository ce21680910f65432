from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.places import configs, place, written
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals import own_refusals
from neurarch_schemas.config.refusals.refusal import Refusal

RULE = RuleInfo(
    name="config-class-refuses",
    severity="error",
    category="correctness",
    summary="Values that the config class of transformers 5.24 does not take together",
)

ROPE = ("rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor")
"""Where RoPE parameters are written."""


def check(context: Context) -> Iterator[Finding]:
    severity: Severity | None = "warning" if versions.excludes(context, versions.V5) else None
    for config in configs(context):
        for refusal in own_refusals(config) if config.is_native else ():
            if refusal.told_by is None:
                yield Finding(
                    f"transformers 5.24 builds no {config.model_type} from this: {refusal.message}",
                    _place(context, config, refusal),
                    severity=severity,
                )


def _place(context: Context, config: ModelConfig, refusal: Refusal) -> Place:
    """The first of the keys that is written; the config itself where all are defaults."""
    keys = ROPE if refusal.keys == ("rope_parameters",) else refusal.keys
    stands = written(context.analysis, config)
    for key in keys:
        names = (key, *(name for name, target in config.synonyms.items() if target == key))
        if any(name in stands for name in names):
            return place(config, key)
        owner, _, inner = key.partition(".")
        if inner and isinstance(stands.get(owner), dict):
            return place(config, owner, *inner.split("."))
    return Place(config.pointer or "/model_type", on="key")
