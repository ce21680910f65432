from __future__ import annotations

from collections.abc import Iterator, Mapping

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.places import is_written
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.words import listed, quoted
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="size-key-missing",
    severity="warning",
    category="correctness",
    summary="One of the sizes that make the model is left to the default of its class",
    about="file",
)

SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_intermediate_size", "num_experts_per_tok")
LATENT = ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")


FOREIGN_GROUPS = (geometry.HIDDEN, geometry.LAYERS, geometry.HEADS, ("vocab_size", "padded_vocab_size", "n_vocab"))


def check(context: Context) -> Iterator[Finding]:
    config, data = context.analysis.config, context.analysis.document.data
    if config is None or config.nested or not isinstance(data, dict) or not _was_saved(data):
        return
    record = config_type(config)
    if record is None:
        yield from _foreign(config)
        return
    for group in (SIZES, EXPERTS, LATENT):
        known = list(dict.fromkeys(record.canonical(name) for name in group if record.knows(name)))
        missing = [name for name in known if not is_written(config, name) and _has_default(config, name)]
        if len(missing) != 1 or len(known) < 3:
            continue
        others = [other for other in known if is_written(config, other)]
        if len(others) < 2:
            continue
        name = missing[0]
        yield Finding(
            f"{name} is not given, though {listed(others)} are: the default of {record.config_class}, "
            f"{quoted(config.get(name))}, is built",
            Place(f"{config.pointer}/{name}"),
        )


MANY = 15


def _was_saved(data: Mapping[str, object]) -> bool:
    """A library wrote the file, with every key of its class; a short one written by hand leaves keys out on purpose."""
    return "transformers_version" in data or len(data) >= MANY


def _has_default(config: ModelConfig, name: str) -> bool:
    setting = config.setting(name)
    return setting is not None and setting.value is not None and setting.origin == "defaulted"


def _foreign(config: ModelConfig) -> Iterator[Finding]:
    """A model of foreign code: its defaults are not known here."""
    found = [geometry.named(config, group) for group in FOREIGN_GROUPS]
    missing = [group[0] for group, item in zip(FOREIGN_GROUPS, found, strict=True) if item is None]
    if len(missing) == 1 and config.model_type:
        others = [item.key for item in found if item is not None]
        yield Finding(
            f"{missing[0]} is not given under any usual name, though {listed(others)} are: the model is built with the "
            "default of its own code",
            Place(f"/{missing[0]}"),
            severity="info",
        )
