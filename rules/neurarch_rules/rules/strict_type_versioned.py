from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, number, written
from neurarch_rules.facts.sources import config_type
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="strict-type-versioned",
    severity="info",
    category="correctness",
    summary="A whole number where the named transformers release insists on a fraction",
)

AFFECTED = ((5, 0), (5, 4))
"""transformers 5.0 to 5.3 refuse an int in a float field; 5.4 accepts it again."""


def check(context: Context) -> Iterator[Finding]:
    if not versions.names(context, AFFECTED):
        return
    for config in configs(context):
        record = config_type(config)
        if record is None:
            continue
        for key, value in written(context.analysis, config).items():
            if isinstance(value, bool) or not isinstance(value, int):
                continue
            kinds = record.properties.get(record.canonical(key), {}).get("type")
            kinds = [kinds] if isinstance(kinds, str) else kinds or []
            if "number" not in kinds or "integer" in kinds:
                continue
            fraction = number(value)
            if fraction is None:
                continue
            pointer = join_pointer(config.pointer, key)
            yield Finding(
                f"{key} {value} is a whole number in a field of fractions: transformers 5.0 to 5.3, which "
                f"{versions.stated(context)} names, refuse it; 5.4 and later accept it",
                Place(pointer),
                fixes=replace_value(context.analysis, pointer, fraction, f"{key} = {fraction}"),
            )
