"""Configs from which transformers 5.24 builds no model, though each value alone has the right type."""

from __future__ import annotations

from collections.abc import Iterator

from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.activations import refused_activations
from neurarch_schemas.config.refusals.heads import refused_heads
from neurarch_schemas.config.refusals.layer_kinds import refused_layer_kinds
from neurarch_schemas.config.refusals.nested import unnamed_parts
from neurarch_schemas.config.refusals.probabilities import refused_probabilities
from neurarch_schemas.config.refusals.refusal import Refusal
from neurarch_schemas.config.refusals.rope import refused_rope
from neurarch_schemas.config.refusals.stages import refused_stages
from neurarch_schemas.config.refusals.table import constraints

CHECKS = (
    unnamed_parts,
    refused_layer_kinds,
    refused_rope,
    refused_stages,
    refused_heads,
    refused_activations,
    refused_probabilities,
)


def refusals(config: ModelConfig) -> Iterator[Refusal]:
    """Of this config and all nested in it; nothing of types that transformers does not have."""
    if config.is_native:
        yield from own_refusals(config)
        for nested in config.nested.values():
            yield from refusals(nested)


def own_refusals(config: ModelConfig) -> Iterator[Refusal]:
    """Of this config alone."""
    for check in CHECKS:
        yield from check(config)
    if config.model_type in constraints():
        from neurarch_schemas.config.refusals.conditions import broken_constraints

        yield from broken_constraints(config)
