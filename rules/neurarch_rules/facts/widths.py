"""Widths that tensor parallelism and grouped quantization cut into pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.facts import geometry
from neurarch_rules.facts.geometry import Named
from neurarch_rules.facts.places import integer

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_schemas.config.model_config import ModelConfig

FEED_FORWARD = (
    "intermediate_size",
    "moe_intermediate_size",
    "shared_expert_intermediate_size",
    "ffn_hidden_size",
    "ffn_dim",
    "n_inner",
)
FUSED_IN_NAME = frozenset(("qwen",))
"""Families of foreign code whose intermediate_size counts the gate and up projections together."""
PARTS = ("feed-forward", "experts", "shared experts")


def feed_forward_widths(context: Context, config: ModelConfig) -> list[Named]:
    """The inner widths of feed-forward blocks that the model really has, one GPU's worth before sharding."""
    found: list[Named] = []
    used = context.once("dimensions", lambda: _dimensions(context))
    for key in FEED_FORWARD:
        value = integer(config, key)
        if value is None or value <= 0 or any(key in (item.key, config.synonyms.get(item.key)) for item in found):
            continue
        if config.model_type in FUSED_IN_NAME and not config.is_native:
            value //= 2
        if used is None or value in used or 2 * value in used:
            found.append(Named(key, value))
    return found


def attention_widths(config: ModelConfig) -> list[Named]:
    """The width of all heads together, which the output projection reads; [] for latent attention."""
    heads, size = geometry.heads(config), geometry.head_dim(config)
    if heads is None or size is None or geometry.is_latent(config):
        return []
    return [Named(heads.key, heads.value * size)]


def _dimensions(context: Context) -> frozenset[int] | None:
    """All dimensions of feed-forward and expert matrices; None where the tensors are not known."""
    found = context.analysis.visits
    if not found:
        return None
    sizes: set[int] = set()
    for visit in found:
        if visit.part in PARTS:
            for tensor in visit.module.tensors:
                sizes.update(tensor.shape)
    return frozenset(sizes)
