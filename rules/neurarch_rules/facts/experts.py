"""Mixtures of experts read from a config, under whatever names the family uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.facts.geometry import Named, named

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig

TOTAL = ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts", "num_routed_experts")
PER_TOKEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "top_k_experts", "moe_k")
GROUPS = ("n_group", "n_groups", "num_expert_group", "num_expert_groups")
SELECTED_GROUPS = ("topk_group", "topk_groups", "num_limited_groups")
COEFFICIENTS = (
    "router_aux_loss_coef",
    "router_aux_loss_coeff",
    "aux_loss_alpha",
    "aux_loss_coef",
    "moe_aux_loss_coef",
    "moe_aux_loss_coeff",
    "load_balancing_loss_coef",
    "router_z_loss_coef",
    "moe_z_loss_coeff",
    "z_loss_coef",
)


def total(config: ModelConfig) -> Named | None:
    """Routed experts of a layer; None for a model without a mixture (one expert is none)."""
    found = named(config, TOTAL)
    return found if found is not None and found.value > 1 else None


def per_token(config: ModelConfig) -> Named | None:
    return named(config, PER_TOKEN)


def balanced_by_bias(config: ModelConfig) -> str | None:
    """How a routing bias is declared, or None."""
    if config.get("topk_method") == "noaux_tc":
        return 'topk_method "noaux_tc"'
    for key in ("use_routing_bias", "moe_router_enable_expert_bias", "e_score_correction_bias", "use_expert_bias"):
        if config.get(key) is True:
            return key
    return None
