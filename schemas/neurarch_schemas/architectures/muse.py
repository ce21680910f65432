"""Muse Glimmer and Muse Spark (text): gated attention, norms around both blocks; Spark routes in a narrower space.

QK norms, output norms and Spark's norm behind attention have no weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    SANDWICH_NORM,
    decoder_layer,
    feed_forward,
    head_dim,
    language_model,
    self_attention,
)
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import Module, Routing, Tensor, children

MODEL_TYPES = ("muse_glimmer_text", "muse_spark_text", "muse_glimmer_assistant")

SPARK_NORM = ("input_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")


def mixer(config: ModelConfig, window: int | None) -> Module:
    width = config.integer("num_attention_heads") * head_dim(config)
    gate = linear(config.integer("hidden_size"), width, bias=False)
    return self_attention(config, window, bias=config.flag("attention_bias"), extra={"gate_proj": gate})


def moe(config: ModelConfig) -> Module:
    """Experts work on ``moe_hidden_size`` dimensions between two projections."""
    hidden, inner = config.integer("hidden_size"), config.integer("moe_hidden_size")
    total = config.integer("num_local_experts")
    experts = fused_experts(
        inner, config.integer("moe_intermediate_size"), total, config.integer("num_experts_per_tok")
    )
    # The norm of each expert's output stands inside the experts but is one for all of them.
    norm = rms_norm(inner).with_(routing=Routing(1, 1))
    return mixture_of_experts(
        hidden,
        router(hidden, total, correction_bias="e_score_correction_bias"),
        experts.with_(children=(("post_expert_norm", norm),)),
        extra={
            "pre_expert_proj": linear(hidden, inner, bias=False, part="experts"),
            "pre_expert_norm": rms_norm(inner),
            "post_expert_proj": linear(inner, hidden, bias=False, part="experts"),
        },
    )


def layer(config: ModelConfig, window: int | None, kind: object = "dense") -> Module:
    hidden = config.integer("hidden_size")
    if config.model_type == "muse_glimmer_text":
        return decoder_layer(hidden, mixer(config, window), feed_forward(config), norms=SANDWICH_NORM)
    transform = moe(config) if kind == "sparse" else feed_forward(config)
    block = decoder_layer(hidden, mixer(config, window), transform, norms=SPARK_NORM)
    gate = Module("ResidualGate", (Tensor("gate", (hidden,)),))
    names = ("post_attention_residual_gate", "post_feedforward_residual_gate")
    return block.with_(children=(*block.children, *((name, gate) for name in names)))


def assistant(config: ModelConfig) -> Module:
    """Glimmer's draft model: reads the hidden states of some layers of the target instead of tokens; no head."""
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    hidden = config.integer("hidden_size")
    inputs = len(config.integers("target_layer_ids")) * hidden
    projection = children(fc=linear(inputs, hidden, bias=False), output_norm_enc=rms_norm(hidden))

    def block(window: int | None) -> Module:
        return decoder_layer(hidden, self_attention(config, window, qk_norm="head"), feed_forward(config))

    return Module(
        "Model",
        children=children(
            layers=layers(config.windows(), block),
            norm=rms_norm(hidden),
            encoder=Module("ContextProjection", children=projection),
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "muse_glimmer_assistant":
        return assistant(config)
    if config.model_type == "muse_glimmer_text":
        return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
    pattern = config.windows().zip(config.layers("mlp_layer_types"))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind)))
