from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry, rope
from neurarch_rules.facts.places import configs, is_written, place, whole_number
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="rope-mrope-section",
    severity="error",
    category="correctness",
    summary="mrope sections that do not add up to the rotated pairs of a head",
    needs=("mrope_section", "qwen2_vl", "qwen2_5_vl"),
)

BY_DEFAULT = {
    "qwen2_vl": (16, 24, 24),
    "qwen2_vl_text": (16, 24, 24),
    "qwen2_5_vl": (16, 24, 24),
    "qwen2_5_vl_text": (16, 24, 24),
}
"""What the families take where nothing is written."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        blocks = rope.blocks(context, config)
        for block in blocks:
            yield from _sections(config, block)
        if not any("mrope_section" in block.values for block in blocks):
            yield from _default(config, blocks)


def _sections(config: ModelConfig, block: rope.Block) -> Iterator[Finding]:
    sections, size = block.values.get("mrope_section"), rope.rotary_dim(block)
    if not isinstance(sections, list) or not sections or size is None:
        return
    numbers = [whole_number(item) for item in sections]
    if any(item is None or item < 0 for item in numbers):
        yield Finding("mrope_section must be a list of whole numbers", block.place("mrope_section"))
        return
    total = sum(item for item in numbers if item is not None)
    if total not in (size // 2, size):
        yield Finding(
            f"mrope_section {' + '.join(map(str, numbers))} = {total}, but a head rotates {size} dimensions, "
            f"{size // 2} pairs: time, height and width must share exactly those",
            block.place("mrope_section"),
            severity=None if config.is_native else "warning",
        )


def _default(config: ModelConfig, blocks: tuple[rope.Block, ...]) -> Iterator[Finding]:
    default, size = BY_DEFAULT.get(config.model_type), geometry.head_dim(config)
    width = geometry.hidden_size(config)
    if default is None or size is None or width is None or not config.is_native or not is_written(config, width.key):
        return
    if sum(default) != size // 2:
        yield Finding(
            f"no mrope_section is given, so {' + '.join(map(str, default))} = {sum(default)} pairs are taken, but a "
            f"head rotates {size} dimensions, {size // 2} pairs: the first forward pass fails",
            blocks[0].place("mrope_section") if blocks else place(config, "rope_scaling"),
        )
