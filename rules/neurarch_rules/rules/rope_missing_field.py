from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope
from neurarch_rules.facts.places import configs
from neurarch_rules.facts.words import listed, quoted
from neurarch_schemas.config.rope import REQUIRED

RULE = RuleInfo(
    name="rope-missing-field",
    severity="error",
    category="correctness",
    summary="A RoPE block lacks fields its type cannot do without",
    needs=("rope_scaling", "rope_parameters"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for block in rope.blocks(context, config):
            if "rope_type" not in block.values and "type" not in block.values:
                yield from _no_type(block)
                continue
            missing = [name for name in REQUIRED.get(block.rope_type, ()) if block.values.get(name) is None]
            if not missing or (block.rope_type == "longrope" and not config.is_native):
                continue
            yield Finding(
                f"RoPE type {quoted(block.rope_type)} needs {' and '.join(missing)}: transformers refuses the block "
                f"without {'it' if len(missing) == 1 else 'them'}",
                Place(f"{block.pointer}/{missing[0]}"),
                severity=None if config.is_native else "warning",
            )


def _no_type(block: rope.Block) -> Iterator[Finding]:
    """Fields of some type, and nothing says which: transformers 5 takes "default", older releases raise."""
    fields = [name for name in block.values if name in rope.FIELDS and name not in rope.COMMON]
    if fields:
        yield Finding(
            f"{block.key} has {listed(fields)} but no rope_type: transformers 5 takes the default type and ignores "
            "them, "
            "transformers 4 refuses the block",
            Place(f"{block.pointer}/rope_type"),
            severity="warning",
        )
