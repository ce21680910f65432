from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.places import configs, is_written, place, related, whole_number
from neurarch_rules.facts.words import divisors, either
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="width-indivisible",
    severity="error",
    category="correctness",
    summary="A width that heads or groups of the family share evenly is not a multiple of their number",
    needs=("groups", "heads", "lru_width"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not config.is_native:
            continue
        for pair in facts("divisible")["pairs"]:
            if config.model_type in pair["types"] and _is_built(config, pair.get("classes")):
                yield from _pair(config, pair)


def _is_built(config: ModelConfig, classes: str | None) -> bool:
    """Some parts exist in one class of the family alone."""
    return classes is None or (config.architecture or "").endswith(classes)


def _pair(config: ModelConfig, pair: Mapping[str, Any]) -> Iterator[Finding]:
    value, by = pair["value"], pair["by"]
    if not (is_written(config, value) or is_written(config, by)) or are_defaults(config, value, by):
        return
    for stage, (width, count) in enumerate(
        _stages(config.get(value), config.get(by), doubling=pair.get("doubling", False))
    ):
        if count <= 0 or width % count == 0:
            continue
        in_lists = isinstance(config.get(by), list)
        legal = [number for number in divisors(width) if abs(number - count) <= max(8, count // 2)]
        yield Finding(
            f"{value} {width} is not a multiple of {by} {count}"
            + (f" in stage {stage}" if in_lists else "")
            + f": {pair['what']} cannot split it"
            + (f"; {either(legal[:6])} divide it" if legal else ""),
            place(config, by, stage) if in_lists and is_written(config, by) else place(config, by),
            (related(config, value),),
        )


def _stages(value: object, by: object, *, doubling: bool) -> list[tuple[int, int]]:
    """(width, count) of each stage; one stage where neither is a list."""
    counts = [whole_number(item) for item in by] if isinstance(by, list) else [whole_number(by)]
    if isinstance(value, list):
        widths = [whole_number(item) for item in value]
    else:
        width = whole_number(value)
        widths = [None if width is None else width * 2**stage if doubling else width for stage in range(len(counts))]
    return [
        (width, count) for width, count in zip(widths, counts, strict=False) if width is not None and count is not None
    ]
