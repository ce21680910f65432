"""Qwen3-Next and Qwen3.5: three gated delta net layers to one of gated attention, dense or with experts.

transformers 5 fuses the experts of a layer; multi-token-prediction modules of the checkpoints are not built.
"""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import at, constant, every
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.experts import fused_experts, router
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.linear_attention import gated_delta_net, output_projection
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, children

MODEL_TYPES = ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")


def gated_attention(config: ModelConfig) -> Module:
    """The query projection is twice as wide: its second half gates the output."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = config.integer("head_dim")
    kv_heads, bias = config.integer("num_key_value_heads"), config.flag("attention_bias")
    return attention_block(
        {
            "q_proj": linear(hidden, 2 * heads * dim, bias),
            "k_proj": linear(hidden, kv_heads * dim, bias),
            "v_proj": linear(hidden, kv_heads * dim, bias),
            "o_proj": linear(heads * dim, hidden, bias),
            "q_norm": rms_norm(dim),
            "k_norm": rms_norm(dim),
        },
        AttentionShape(heads, kv_heads, dim, dim, qk_norm=True, position="partial rope"),
        hidden=hidden,
    )


def delta_net(config: ModelConfig) -> Module:
    """Qwen3-Next stores its input projections in two matrices, the later models in four."""
    hidden = config.integer("hidden_size")
    key_heads, value_heads = config.integer("linear_num_key_heads"), config.integer("linear_num_value_heads")
    key_dim, value_dim = config.integer("linear_key_head_dim"), config.integer("linear_value_head_dim")
    keys, values = key_heads * key_dim, value_heads * value_dim
    projections: dict[str, Module | Stack | None]
    if config.model_type == "qwen3_next":
        projections = {
            "in_proj_qkvz": linear(hidden, 2 * keys + 2 * values, bias=False),
            "in_proj_ba": linear(hidden, 2 * value_heads, bias=False),
        }
    else:
        projections = {
            "in_proj_qkv": linear(hidden, 2 * keys + values, bias=False),
            "in_proj_z": linear(hidden, values, bias=False),
            "in_proj_b": linear(hidden, value_heads, bias=False),
            "in_proj_a": linear(hidden, value_heads, bias=False),
        }
    return gated_delta_net(
        {**projections, "norm": rms_norm(value_dim), "out_proj": output_projection(value_heads, value_dim, hidden)},
        hidden=hidden,
        key_heads=key_heads,
        value_heads=value_heads,
        key_dim=key_dim,
        value_dim=value_dim,
        kernel=config.integer("linear_conv_kernel_dim"),
    )


def mixture(config: ModelConfig) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    return Module(
        "MixtureOfExperts",
        children=children(
            gate=router(hidden, experts),
            experts=fused_experts(
                hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")
            ),
            shared_expert=gated_mlp(
                hidden, config.integer("shared_expert_intermediate_size"), part="shared experts", type="SharedExpert"
            ),
            shared_expert_gate=linear(hidden, 1, bias=False, part="shared experts"),
        ),
    )


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    """Which layers have experts."""
    if config.model_type == "qwen3_next":
        return sparse_by_step(config)
    return constant(config.model_type == "qwen3_5_moe_text", config.integer("num_hidden_layers"))


def sparse_by_step(config: ModelConfig) -> LayerPattern[bool]:
    """Every ``decoder_sparse_step``-th layer has experts, but for those in ``mlp_only_layers``."""
    length = config.integer("num_hidden_layers")
    if config.integer("num_experts") == 0:
        return constant(False, length)
    step = config.integer("decoder_sparse_step")
    dense = config.integers("mlp_only_layers") if config.is_set("mlp_only_layers") else ()
    sparse = every(step, step - 1, length, True, False)
    return sparse.zip(at(dense, length, True, False)).map(lambda pair: pair[0] and not pair[1]) if dense else sparse


def layer(config: ModelConfig, kind: object, sparse: bool) -> Module:
    hidden = config.integer("hidden_size")
    linear_attention = kind == "linear_attention"
    return Module(
        "DecoderLayer",
        children=children(
            linear_attn=delta_net(config) if linear_attention else None,
            self_attn=None if linear_attention else gated_attention(config),
            mlp=mixture(config) if sparse else gated_mlp(hidden, config.integer("intermediate_size")),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    pattern = config.layers("layer_types").zip(sparse_layers(config))
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(pattern, lambda kind: layer(config, *kind)),
            norm=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden)
