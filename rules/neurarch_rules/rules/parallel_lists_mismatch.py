from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.places import configs, is_written, place, related
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.words import counted
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="parallel-lists-mismatch",
    severity="error",
    category="correctness",
    summary="Lists that describe the same stages or convolutions have different lengths",
    needs=("conv_", "depths", "hidden_sizes", "num_heads"),
)

GROUPS = (
    ("conv_dim", "conv_stride", "conv_kernel"),
    ("tdnn_dim", "tdnn_kernel", "tdnn_dilation"),
    ("depths", "num_heads"),
    ("depths", "hidden_sizes"),
    ("depths", "num_attention_heads"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for group in GROUPS:
            lists = {name: value for name in group if isinstance(value := config.get(name), list)}
            if len(lists) != len(group) or not any(is_written(config, name) for name in group):
                continue
            if are_defaults(config, *group) or not all(_is_own(config, name) for name in group):
                continue
            lengths = {name: len(value) for name, value in lists.items()}
            if len(set(lengths.values())) == 1:
                continue
            common = max(lengths.values(), key=list(lengths.values()).count)
            odd = next(name for name in reversed(group) if lengths[name] != common)
            others = [name for name in group if name != odd]
            yield Finding(
                f"{odd} has {counted(lengths[odd], 'entry', 'entries')}, "
                + " and ".join(f"{name} {lengths[name]}" for name in others)
                + ": each stage needs one of each",
                place(config, odd),
                tuple(related(config, name, f"{name} has {lengths[name]} entries") for name in others),
                severity=None if config.is_native else "warning",
            )


def _is_own(config: ModelConfig, name: str) -> bool:
    """Not a list that the class computes from other keys and merely writes out."""
    record = config_type(config)
    return record is None or record.canonical(name) in record.properties
