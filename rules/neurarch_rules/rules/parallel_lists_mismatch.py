from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.places import configs, integer, is_written, place, related
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.words import counted
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="parallel-lists-mismatch",
    severity="error",
    category="correctness",
    summary="Lists that describe the same stages or convolutions have different lengths",
    needs=("[",),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        reported: set[str | None] = set()
        for group in facts("parallel_lists")["groups"]:
            if "types" in group and not (config.is_native and config.model_type in group["types"]):
                continue
            for finding in _group(config, group["lists"], group.get("count")):
                if finding.place.pointer not in reported:
                    yield finding
                reported.add(finding.place.pointer)


def _group(config: ModelConfig, names: list[str], count_key: str | None) -> Iterator[Finding]:
    lists = {name: value for name in names if isinstance(value := config.get(name), list) and value}
    if len(lists) != len(names) or not any(is_written(config, name) for name in (*names, count_key or names[0])):
        return
    counted_by = (count_key,) if count_key and is_written(config, count_key) else ()
    if are_defaults(config, *names, *counted_by) or not all(_is_own(config, name) for name in names):
        return
    lengths = {name: len(value) for name, value in lists.items()}
    for key in counted_by:
        count = integer(config, key)
        if count is not None:
            lengths[key] = count
    if len(set(lengths.values())) == 1:
        return
    common = max(lengths.values(), key=list(lengths.values()).count)
    odd = next(name for name in reversed(lengths) if lengths[name] != common)
    others = [name for name in lengths if name != odd]
    says = f"{odd} is {lengths[odd]}" if odd == count_key else f"{odd} has {counted(lengths[odd], 'entry', 'entries')}"
    yield Finding(
        f"{says}, " + " and ".join(f"{name} {lengths[name]}" for name in others) + ": each stage needs one of each",
        place(config, odd),
        tuple(
            related(config, name, f"{name} {'is' if name == count_key else 'has'} {lengths[name]}") for name in others
        ),
        severity=None if config.is_native else "warning",
    )


def _is_own(config: ModelConfig, name: str) -> bool:
    """Not a list that the class computes from other keys and merely writes out."""
    record = config_type(config)
    return record is None or record.canonical(name) in record.properties
