"""Gemma 4 (text): sliding layers with small heads, full layers with larger ones, optional experts and shared caches.

Full layers take their head size (and number of KV heads) from ``per_layer_config``, or, where a file does not have one,
from ``global_head_dim`` and ``num_global_key_value_heads``. The last layer is always a full one.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import SANDWICH_NORM, head_dim, language_model
from neurarch_schemas.architectures.gemma3n import per_layer_embedding, per_layer_input, shared_layers
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.overrides import Overrides, is_written, per_layer_overrides
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.experts import fused_experts
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, children

MODEL_TYPES = ("gemma4_text", "gemma4_unified_text")
READS_PER_LAYER_CONFIG = True

_VARIED = ("head_dim", "num_key_value_heads")
_DEFAULT_GLOBAL_HEAD_DIM = 512


def layer_types(config: ModelConfig) -> LayerPattern[JSONScalar]:
    pattern = config.layers("layer_types")
    return pattern.with_item(len(pattern) - 1, "full_attention")


def overrides(config: ModelConfig) -> LayerPattern[Overrides]:
    """Head size and KV heads of each layer where they differ from the model's."""
    if is_written(config, "per_layer_config"):
        return per_layer_overrides(config, _VARIED, config.integer("num_hidden_layers"))
    full: list[tuple[str, int | None]] = [("head_dim", config.integer("global_head_dim", _DEFAULT_GLOBAL_HEAD_DIM))]
    if config.flag("attention_k_eq_v") and config.is_set("num_global_key_value_heads"):
        full.append(("num_key_value_heads", config.integer("num_global_key_value_heads")))
    wide = tuple(full)
    return layer_types(config).map(lambda kind: wide if kind == "full_attention" else ())


def self_attention(config: ModelConfig, kind: JSONScalar, varied: Overrides, shared: bool) -> Module:
    """Keys double as values in full layers with ``attention_k_eq_v``; both are cached all the same."""
    given = dict(varied)
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = given.get("head_dim") or head_dim(config)
    kv_heads = given.get("num_key_value_heads") or config.integer("num_key_value_heads")
    bias = config.flag("attention_bias")
    sliding = kind == "sliding_attention"
    window = config.integer("sliding_window") if sliding else None
    if window is not None and config.get("use_bidirectional_attention") == "all":
        window = _bidirectional_window(config, window)
    own_values = sliding or not config.flag("attention_k_eq_v")
    return attention_block(
        {
            "q_proj": linear(hidden, heads * dim, bias),
            "q_norm": rms_norm(dim),
            "k_norm": None if shared else rms_norm(dim),
            "k_proj": None if shared else linear(hidden, kv_heads * dim, bias),
            "v_proj": linear(hidden, kv_heads * dim, bias) if own_values and not shared else None,
            "o_proj": linear(heads * dim, hidden, bias),
        },
        AttentionShape(
            heads,
            kv_heads,
            dim,
            dim,
            "sliding" if sliding else "full",
            window,
            causal=config.get("use_bidirectional_attention") != "all",
            qk_norm=True,
            position="rope" if sliding else "partial rope",
        ),
        hidden=hidden,
        caches=() if shared else None,
    )


def _bidirectional_window(config: ModelConfig, window: int) -> int:
    """Half the written window on each side; a derived value already is that."""
    return window // 2 + 1 if is_written(config, "sliding_window") else window


def expert_block(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """Experts beside the dense feed-forward, each with norms of its own."""
    if not config.flag("enable_moe_block"):
        return {}
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    inner, active = config.integer("moe_intermediate_size"), config.integer("top_k_experts")
    gate = Module(
        "Router",
        (Tensor("scale", (hidden,)), Tensor("per_expert_scale", (experts,))),
        children(proj=linear(hidden, experts, bias=False)),
        part="router",
    )
    norms = ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2")
    return {
        "router": gate,
        "experts": fused_experts(hidden, inner, experts, active),
        **dict.fromkeys(norms, rms_norm(hidden)),
    }


def layer(config: ModelConfig, kind: JSONScalar, varied: Overrides, shared: bool) -> Module:
    hidden = config.integer("hidden_size")
    inner = config.integer("intermediate_size") * (2 if shared and config.flag("use_double_wide_mlp") else 1)
    width = config.integer("hidden_size_per_layer_input", 0)
    return Module(
        "DecoderLayer",
        (Tensor("layer_scalar", (1,), "buffer"),),
        children(
            self_attn=self_attention(config, kind, varied, shared),
            mlp=gated_mlp(hidden, inner),
            **dict.fromkeys(SANDWICH_NORM, rms_norm(hidden)),
            **(per_layer_input(hidden, width) if width else {}),
            **expert_block(config),
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden, width = config.integer("hidden_size"), config.integer("hidden_size_per_layer_input", 0)
    pattern = layer_types(config).zip(overrides(config)).zip(shared_layers(config))
    return language_model(
        config,
        layers(pattern, lambda kind: layer(config, *kind[0], kind[1])),
        after={**per_layer_embedding(config, hidden, width)} if width else None,
    )
