from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs
from neurarch_rules.facts.words import quoted

RULE = RuleInfo(
    name="overridden-value",
    severity="info",
    category="correctness",
    summary="The config class replaces a written value by another one",
    aliases=("key-ignored",),
)

ACTIVATIONS = ("hidden_act", "hidden_activation", "activation_function")


def check(context: Context) -> Iterator[Finding]:
    from neurarch_schemas.catalogue.load import enumerations

    for config in configs(context):
        if not config.overridden:
            continue
        for name in ACTIVATIONS:
            setting = config.overridden.get(name)
            effective = config.get(name)
            if setting is None or setting.pointer is None or not isinstance(effective, str):
                continue
            if setting.value not in enumerations()["activations"]:
                continue
            yield Finding(
                f"{name} {quoted(setting.value)} is not what runs: {config.model_type} replaces it by "
                f"{quoted(effective)}",
                Place(setting.pointer),
                fixes=replace_value(context.analysis, setting.pointer, effective, f'{name} = "{effective}"'),
            )
