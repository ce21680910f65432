"""JetMoE: experts in the feed-forward block and in attention, where each has its own query and output projection."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import kv_caches
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Part, Routing, Tensor, children

MODEL_TYPES = ("jetmoe",)


def parallel_experts(experts: int, active: int, inputs: int, outputs: int, part: Part) -> Module:
    """One matrix (out, in) an expert, in one tensor."""
    return Module(
        "ParallelExperts",
        (Tensor("weight", (experts, outputs, inputs)),),
        part=part,
        routing=Routing(experts, active),
        multiply_accumulates=active * inputs * outputs,
    )


def routed(config: ModelConfig, inner: int, outer: int, part: Part) -> Module:
    """Experts between the residual stream and ``inner`` (first matrix) or ``outer`` (second) dimensions."""
    hidden, experts = config.integer("hidden_size"), config.integer("num_local_experts")
    active = config.integer("num_experts_per_tok")
    gate = Module("Router", children=children(layer=linear(hidden, experts, bias=False)), part="router")
    return Module(
        "MixtureOfExperts",
        (Tensor("bias", (hidden,)),),
        children(
            input_linear=parallel_experts(experts, active, hidden, inner, part),
            output_linear=parallel_experts(experts, active, outer, hidden, part),
            router=gate,
        ),
        part,
        width_in=hidden,
        width_out=hidden,
    )


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, kv_heads = config.integer("hidden_size"), config.integer("num_key_value_heads")
    dim, inner = config.integer("kv_channels"), config.integer("intermediate_size")
    # As many query heads as KV heads for every active expert.
    heads = kv_heads * config.integer("num_experts_per_tok")
    shape = AttentionShape(heads, kv_heads, dim, dim, "full" if window is None else "sliding", window, position="rope")
    mixer = Module(
        "Attention",
        children=children(
            experts=routed(config, kv_heads * dim, kv_heads * dim, "experts"),
            kv_proj=linear(hidden, 2 * kv_heads * dim, bias=False),
        ),
        part="attention",
        attention=shape,
        caches=kv_caches(shape),
        width_in=hidden,
        width_out=hidden,
    )
    transform = routed(config, 2 * inner, inner, "experts")
    return decoder_layer(hidden, mixer, transform, names=("self_attention", "mlp"))


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
