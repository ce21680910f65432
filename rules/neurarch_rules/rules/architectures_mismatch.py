from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import listed, quoted

RULE = RuleInfo(
    name="architectures-mismatch",
    severity="warning",
    category="correctness",
    summary="The model class belongs to another model type, or does not exist",
)


def check(context: Context) -> Iterator[Finding]:
    config = context.analysis.config
    data = context.analysis.document.data
    record = None if config is None else config_type(config)
    if config is None or record is None or not isinstance(data, dict) or "auto_map" in data:
        return
    names = data.get("architectures")
    if names is not None and not isinstance(names, list):
        yield Finding(
            f"architectures must be a list of class names, not {quoted(names)}: engines that go by it find no class",
            Place("/architectures"),
            fixes=replace_value(context.analysis, "/architectures", [names], f"architectures = [{quoted(names)}]")
            if isinstance(names, str)
            else (),
        )
    if not isinstance(names, list) or not isinstance(data.get("model_type"), str):
        return
    from neurarch_schemas.catalogue.load import index

    classes = index()["classes"]
    for at, name in enumerate(names):
        if not isinstance(name, str) or name in record.classes:
            continue
        owners = classes.get(name)
        related = (Related(Place("/model_type"), f"model_type is {config.model_type}"),)
        if owners is not None and config.model_type in owners:
            continue
        severity: Severity | None = None
        if owners is not None:
            message = (
                f"{name} is a class of {listed(owners, 3)}, but model_type says {config.model_type}: transformers "
                "loads "
                f"{record.architecture or 'the class of that type'}, engines that go by the class read other weights"
            )
        else:
            guess = closest(name, record.classes)
            if guess is None or name.endswith(guess):
                continue
            message = f"transformers has no class {name}: did you mean {guess}?"
        yield Finding(message, Place(f"/architectures/{at}"), related, severity=severity)
