from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import experts
from neurarch_rules.facts.geometry import Named, named
from neurarch_rules.facts.places import configs, is_written, place, related
from neurarch_rules.facts.words import divisors, either
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="moe-group-topology",
    severity="error",
    category="correctness",
    summary="Expert groups that do not fit the number of experts or of experts per token",
    needs=("group", "experts"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        count, groups = experts.total(config), named(config, experts.GROUPS)
        chosen, selected = experts.per_token(config), named(config, experts.SELECTED_GROUPS)
        if count is None or groups is None or groups.value <= 1:
            continue
        if not any(is_written(config, item.key) for item in (count, groups, chosen, selected) if item is not None):
            continue
        yield from _check(config, count, groups, chosen, selected)


def _check(
    config: ModelConfig, count: Named, groups: Named, chosen: Named | None, selected: Named | None
) -> Iterator[Finding]:
    softer: Severity | None = None if config.is_native else "warning"
    if count.value % groups.value:
        legal = [number for number in divisors(count.value) if count.value // number >= 2]
        yield Finding(
            f"{count.value} experts cannot be split into {groups.value} equal groups: {groups.key} may be "
            f"{either(legal[:8])}",
            place(config, count.key),
            (related(config, groups.key),),
            severity=softer,
        )
        return
    size = count.value // groups.value
    if size < 2:
        yield Finding(
            f"{groups.value} groups of 1 expert: a group is scored by the sum of its 2 best experts, so it needs at "
            f"least 2; {groups.key} may be at most {count.value // 2}",
            place(config, groups.key),
            (related(config, count.key),),
            severity=softer,
        )
    if selected is None:
        return
    if selected.value > groups.value or selected.value <= 0:
        yield Finding(
            f"{selected.value} of {groups.value} groups are to be selected: {selected.key} may be 1 to {groups.value}",
            place(config, selected.key),
            (related(config, groups.key),),
            severity=softer,
        )
    elif chosen is not None and selected.value * size < chosen.value:
        needed = -(-chosen.value // size)
        yield Finding(
            f"{selected.value} selected {'group' if selected.value == 1 else 'groups'} x {size} experts = "
            f"{selected.value * size} candidates, but {chosen.value} experts per token are wanted, so masked experts "
            f"are chosen: {selected.key} must be at least {needed}",
            place(config, selected.key),
            (related(config, chosen.key), related(config, groups.key)),
            severity=softer,
        )
