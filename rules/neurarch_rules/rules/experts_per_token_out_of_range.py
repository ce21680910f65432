from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import experts
from neurarch_rules.facts.geometry import named
from neurarch_rules.facts.places import configs, is_written, place, related

RULE = RuleInfo(
    name="experts-per-token-out-of-range",
    severity="error",
    category="correctness",
    summary="More experts per token than there are, or none at all",
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        count, chosen = named(config, experts.TOTAL), experts.per_token(config)
        if count is None or chosen is None or count.value <= 0:
            continue
        if not (is_written(config, count.key) or is_written(config, chosen.key)):
            continue
        if chosen.value > count.value and (count.value > 1 or is_written(config, chosen.key)):
            yield Finding(
                f"{chosen.value} experts per token of {count.value}: the router takes the top {chosen.value} of "
                f"{count.value} scores and fails on the first token; {chosen.key} may be at most {count.value}",
                place(config, chosen.key),
                (related(config, count.key),),
                severity=None if config.is_native else "warning",
            )
        elif chosen.value <= 0 and count.value > 1 and is_written(config, chosen.key):
            yield Finding(
                f"{chosen.value} experts per token: no token reaches any of the {count.value} experts",
                place(config, chosen.key),
                (related(config, count.key),),
                severity=None if config.is_native else "warning",
            )
