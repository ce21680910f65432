from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.sources import config_type

RULE = RuleInfo(
    name="architectures-missing",
    severity="info",
    category="hygiene",
    summary="The file does not say which model class its weights belong to",
    about="file",
)


def check(context: Context) -> Iterator[Finding]:
    data, config = context.analysis.document.data, context.analysis.config
    if not isinstance(data, dict) or config is None or not config.model_type or data.get("architectures"):
        return
    record = config_type(config)
    name = record.architecture if record is not None else None
    fixes: tuple[Fix, ...] = ()
    if name:
        fixes = set_value(context.analysis, "", "architectures", [name], f'architectures = ["{name}"]', "unsafe")
    yield Finding(
        f"no architectures: converters and serving engines cannot choose a class for {config.model_type}"
        + (f" (its language model is {name})" if name else ""),
        Place("/architectures"),
        fixes=fixes,
    )
