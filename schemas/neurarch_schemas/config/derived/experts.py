"""Mixtures of experts: which layers hold experts, and how many."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config.derived.vocabulary import (
    FULL,
    SPARSE,
    constant,
    default,
    first_dense,
    head_dim_or_zero,
    kv_heads,
    layers,
)
from neurarch_schemas.config.derived.windows import window_switch
from neurarch_schemas.config.draft import Draft, Rule
from neurarch_schemas.documents.json_value import JSONValue

# MiniMax-M3: key of the older sparse_attention_config -> key of the config class.
M3_INDEX = {
    "sparse_num_index_heads": "index_n_heads",
    "sparse_index_dim": "index_head_dim",
    "sparse_block_size": "index_block_size",
    "sparse_topk_blocks": "index_topk_blocks",
    "sparse_local_block": "index_local_blocks",
}


def last_expert_layer(draft: Draft) -> None:
    """Ernie 4.5: -1 means the last layer."""
    if draft.get("moe_layer_end_index") == -1:
        draft.derive("moe_layer_end_index", draft.integer("num_hidden_layers") - 1, "num_hidden_layers - 1")


def minimax_m3(draft: Draft) -> None:
    """``sparse_attention_config`` and ``moe_layer_freq`` of the released files name the kind of each layer."""
    given = draft.take("sparse_attention_config")
    sparse: dict[str, JSONValue] = given if isinstance(given, dict) else {}
    frequency = draft.take("moe_layer_freq")
    draft.derive("hidden_act", "silu", "the clipped SwiGLU is built on it")
    for old, name in M3_INDEX.items():
        if old in sparse:
            draft.derive(name, sparse[old], f"sparse_attention_config.{old}")
    flags = sparse.get("sparse_attention_freq")
    if draft.is_null("layer_types") and isinstance(flags, list):
        kinds: list[JSONValue] = ["minimax_m3_sparse" if flag else FULL for flag in flags]
        draft.derive("layer_types", kinds, "sparse_attention_config.sparse_attention_freq")
    if draft.is_null("layer_types"):
        draft.derive_pattern("layer_types", constant(FULL, layers(draft)), "all layers alike")
    if draft.is_null("mlp_layer_types") and isinstance(frequency, list):
        draft.derive("mlp_layer_types", [SPARSE if flag else "dense" for flag in frequency], "moe_layer_freq")
    if draft.is_null("mlp_layer_types"):
        draft.derive_pattern("mlp_layer_types", constant(SPARSE, layers(draft)), "all layers alike")


NO_DENSE_LAYERS = default("mlp_only_layers", [])

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    "DbrxFFNConfig": (default("ffn_act_fn", {"name": "silu"}),),
    "Ernie4_5_MoeConfig": (last_expert_layer,),
    "Ernie4_5_VLMoeTextConfig": (first_dense(1), default("moe_intermediate_size", [1536, 512])),
    "MiniMaxM3VLTextConfig": (),
    "Qwen3MoeConfig": (window_switch, NO_DENSE_LAYERS),
    "Qwen3OmniMoeTextConfig": (NO_DENSE_LAYERS,),
    "Qwen3OmniMoeTalkerTextConfig": (NO_DENSE_LAYERS,),
    "Qwen3VLMoeTextConfig": (
        kv_heads,
        head_dim_or_zero,
        lambda draft: draft.derive("sliding_window", None, "this type has none"),
        NO_DENSE_LAYERS,
    ),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {}
AFTER: Mapping[str, tuple[Rule, ...]] = {"MiniMaxM3VLTextConfig": (minimax_m3,)}
