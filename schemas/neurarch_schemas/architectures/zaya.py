"""ZAYA1: compressed convolutional attention, experts behind a router network with a skip class, scaled residuals."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import at
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block, kv_caches
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts
from neurarch_schemas.modules.layers import convolution, linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Tensor, children

MODEL_TYPES = ("zaya",)


def projection(config: ModelConfig) -> Module:
    """Queries and keys pass two convolutions; half of each value comes from the previous token, which is kept."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim = config.integer("num_key_value_heads"), config.integer("head_dim")
    bias, first, second = config.flag("attention_bias"), config.integer("cca_time0"), config.integer("cca_time1")
    channels, keys = (heads + kv_heads) * dim, kv_heads * dim
    return Module(
        "ConvolutionalProjection",
        children=children(
            q_proj=linear(hidden, heads * dim, bias),
            k_proj=linear(hidden, keys, bias),
            v_proj_current=linear(hidden, keys // 2, bias),
            v_proj_delayed=linear(hidden, keys // 2, bias),
            conv_qk_depthwise=convolution(channels, channels, (first,), groups=channels),
            conv_qk_grouped=convolution(channels, channels, (second,), groups=heads + kv_heads),
        ),
        caches=(
            Cache("convolution", constant=channels * max(first + second - 2, 0)),
            Cache("recurrent", constant=keys // 2),
        ),
    )


def self_attention(config: ModelConfig, sliding: bool) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim = config.integer("num_key_value_heads"), config.integer("head_dim")
    window = config.integer("sliding_window") if sliding else None
    shape = AttentionShape(
        heads, kv_heads, dim, dim, "sliding" if sliding else "full", window, qk_norm=True, position="partial rope"
    )
    return attention_block(
        {
            "o_proj": linear(heads * dim, hidden, config.flag("attention_bias")),
            "qkv_proj": projection(config),
            "qk_norm": Module("QKNorm", (Tensor("temp", (kv_heads,)),), part="norm"),
        },
        shape,
        hidden=hidden,
        caches=kv_caches(shape),
    )


def mixture(config: ModelConfig, first: bool) -> Module:
    """The router mixes in its state of the layer before, where there is one; one more class skips the experts."""
    hidden, width = config.integer("hidden_size"), config.integer("router_hidden_size")
    experts = config.integer("num_experts")
    network = Module(
        "RouterMLP",
        children=children(
            norm=rms_norm(width),
            fc1=linear(width, width),
            fc2=linear(width, width),
            out_proj=linear(width, experts + 1, bias=False),
        ),
    )
    tensors = () if first else (Tensor("router_states_scale", (width,)),)
    gate = Module(
        "Router",
        (*tensors, Tensor("balancing_biases", (experts + 1,), "buffer")),
        children(down_proj=linear(hidden, width), router_mlp=network),
        part="router",
    )
    routed = fused_experts(
        hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")
    )
    return mixture_of_experts(hidden, gate, routed)


def residual_scaling(hidden: int) -> Module:
    names = ("hidden_states_scale", "hidden_states_bias", "residual_scale", "residual_bias")
    return Module("ResidualScaling", tuple(Tensor(name, (hidden,)) for name in names), part="other")


def layer(config: ModelConfig, kind: JSONScalar, first: bool) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=self_attention(config, kind == "hybrid_sliding"),
            mlp=mixture(config, first),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
            post_attention_residual_scale=residual_scaling(hidden),
            post_mlp_residual_scale=residual_scaling(hidden),
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    pattern = config.layers("layer_types").zip(at((0,), config.integer("num_hidden_layers"), True, False))
    scaling = (Tensor("input_hidden_states_scale", (hidden,)), Tensor("input_hidden_states_bias", (hidden,)))
    return language_model(
        config,
        layers(pattern, lambda kind: layer(config, *kind)),
        tensors=scaling,
        head_bias=config.flag("lm_head_bias"),
    )
