"""Inkling 2 (text), plain and looped: clipped queries and keys, gated outputs, attention over blocks of residuals.

The output head has ``unpadded_vocab_size`` rows and is never tied. In the looped model the middle layers run several
times; every run has a cache of its own, the weights are the same.
"""

from __future__ import annotations

from neurarch_schemas.architectures.inkling import normed_language_model
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import at, constant
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.state_space import cached_convolution
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Stack, Tensor, children

MODEL_TYPES = ("inkling2_text", "inkling2_loop_text")


def clip(heads: int, dim: int) -> Module:
    """Bounds the length of each head's vector, then scales it."""
    return Module("L2Clip", (Tensor("scale", (heads, dim)),), part="norm")


def dynamic_convolution(hidden: int, heads: int, dim: int, kernel: int) -> Module:
    """A causal convolution whose filters get a term that depends on the input, the same for all channels of a head."""
    channels = heads * dim
    return Module(
        "DynamicConvolution",
        (Tensor("static_weight", (kernel, channels)),),
        children(weight_proj=linear(hidden, heads * kernel, bias=False)),
        part="convolution",
        caches=(Cache("convolution", constant=channels * kernel),),
        multiply_accumulates=kernel * channels,
        width_out=channels,
    )


def self_attention(config: ModelConfig, sliding: bool) -> Module:
    prefix = "swa_" if sliding else ""
    hidden, kernel = config.integer("hidden_size"), config.integer("conv_kernel_size")
    heads, kv_heads = (
        config.integer(f"{prefix}num_attention_heads"),
        config.integer(f"{prefix}num_key_value_heads"),
    )
    dim, rank = config.integer(f"{prefix}head_dim"), config.integer("d_rel")
    window = config.integer("sliding_window_size")
    extent = window if sliding else config.integer("rel_extent")
    convolution = (
        cached_convolution(kv_heads * dim, kernel) if sliding else dynamic_convolution(hidden, kv_heads, dim, kernel)
    )
    keys = Module(
        "KeyValueProjection",
        children=children(linear=linear(hidden, kv_heads * dim, bias=False), sconv=convolution),
    )
    shape = AttentionShape(
        heads,
        kv_heads,
        dim,
        dim,
        "sliding" if sliding else "full",
        window if sliding else None,
        qk_norm=True,
        position="relative",
    )
    return attention_block(
        {
            "q_proj": Module(
                "QueryProjection",
                children=children(linear=linear(hidden, heads * dim, bias=False), norm=clip(heads, dim)),
            ),
            "k_proj": keys,
            "v_proj": keys,
            "o_proj": Module(
                "GatedOutput",
                children=children(
                    gate_proj=linear(hidden, heads * dim, bias=False), linear=linear(heads * dim, hidden, bias=False)
                ),
            ),
            "sink_proj": linear(hidden, heads, bias=False),
            "relative_position_bias": Module(
                "RelativePositionBias",
                (Tensor("proj", (rank, extent)),),
                children(linear=linear(hidden, heads * rank, bias=False), norm=clip(heads, rank)),
            ),
        },
        shape,
        hidden=hidden,
    )


def block_residual(hidden: int, queries: int = 1) -> Module:
    """Mixes the outputs of earlier blocks of layers by attention with learned queries."""
    return Module("BlockResidual", (Tensor("query", (hidden,) if queries == 1 else (queries, hidden)),), part="other")


def message_gate(hidden: int, rank: int) -> Module:
    """What a looped layer keeps and takes from its last run."""
    return Module(
        "MessageGate",
        children=children(
            down_proj=linear(2 * hidden, rank, bias=False),
            forget_gate_proj=linear(rank, hidden, bias=False),
            message_gate_proj=linear(rank, hidden, bias=False),
        ),
        part="other",
    )


def mixture(config: ModelConfig) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("n_routed_experts")
    return mixture_of_experts(
        hidden,
        router(hidden, experts, correction_bias="e_score_correction_bias"),
        fused_experts(hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")),
    )


def repeated(module: Module, runs: int) -> Module:
    """The module with the caches of ``runs`` runs."""
    if runs == 1:
        return module
    caches = tuple(
        cache._replace(per_token=cache.per_token * runs, constant=cache.constant * runs) for cache in module.caches
    )
    inside = tuple(
        (name, repeated(child, runs) if isinstance(child, Module) else child) for name, child in module.children
    )
    return module.with_(caches=caches, children=inside)


def layer(config: ModelConfig, kind: JSONScalar, first: bool, looped: bool) -> Module:
    hidden = config.integer("hidden_size")
    sliding = kind == "hybrid_sliding"
    convolution = cached_convolution(hidden, config.integer("conv_kernel_size"))
    input_norms = ("input_layernorm",) if sliding else ("q_input_layernorm", "k_input_layernorm", "v_input_layernorm")
    gates = ("q_message_gate", "k_message_gate", "v_message_gate", "mlp_message_gate") if looped else ()
    gate = message_gate(hidden, config.integer("loop_gate_rank")) if looped else None
    built = Module(
        "DecoderLayer",
        children=children(
            attention_input=None if first else block_residual(hidden, 1 if sliding else 3),
            mlp_input=block_residual(hidden),
            self_attn=self_attention(config, sliding),
            mlp=mixture(config),
            **dict.fromkeys(input_norms, rms_norm(hidden)),
            post_attention_layernorm=rms_norm(hidden),
            post_attention_convolution=convolution,
            post_mlp_convolution=convolution,
            **dict.fromkeys(gates, gate),
        ),
    )
    passes = config.integer("loop_num_passes") if looped else 1
    return repeated(built, passes).with_(passes=passes)


def looped_layers(config: ModelConfig, length: int) -> LayerPattern[bool]:
    if config.model_type != "inkling2_loop_text":
        return constant(False, length)
    start = min(config.integer("loop_layer_index_start"), length)
    end = max(min(config.integer("loop_layer_index_end"), length), start)
    return constant(False, start) + constant(True, end - start) + constant(False, length - end)


def build(config: ModelConfig) -> Module:
    hidden, length = config.integer("hidden_size"), config.integer("num_hidden_layers")
    pattern = config.layers("layer_types").zip(at((0,), length, True, False)).zip(looped_layers(config, length))
    after: dict[str, Module | Stack | None] = {"final_input": block_residual(hidden)}
    if config.model_type == "inkling2_loop_text":
        loop = config.integer("loop_layer_index_end") - config.integer("loop_layer_index_start")
        after["message_input"] = Module("MessageResidual", (Tensor("query", (loop, 4, hidden)),), part="other")
    blocks = layers(pattern, lambda kind: layer(config, *kind[0], kind[1]))
    return normed_language_model(config, blocks, vocabulary=config.integer("unpadded_vocab_size"), after=after)
