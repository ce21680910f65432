from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope
from neurarch_rules.facts.places import configs, whole_number

RULE = RuleInfo(
    name="rope-mrope-section",
    severity="error",
    category="correctness",
    summary="mrope sections that do not add up to the rotated pairs of a head",
    needs=("mrope_section",),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for block in rope.blocks(context, config):
            sections, size = block.values.get("mrope_section"), rope.rotary_dim(block)
            if not isinstance(sections, list) or not sections or size is None:
                continue
            numbers = [whole_number(item) for item in sections]
            if any(item is None or item < 0 for item in numbers):
                yield Finding("mrope_section must be a list of whole numbers", block.place("mrope_section"))
                continue
            total = sum(item for item in numbers if item is not None)
            if total not in (size // 2, size):
                yield Finding(
                    f"mrope_section {' + '.join(map(str, numbers))} = {total}, but a head rotates {size} dimensions, "
                    f"{size // 2} pairs: time, height and width must share exactly those",
                    block.place("mrope_section"),
                    severity=None if config.is_native else "warning",
                )
