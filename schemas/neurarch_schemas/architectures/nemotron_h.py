"""Nemotron-H: every layer is one mixer alone, Mamba 2, attention, an MLP or a mixture of experts.

The output head is never tied, whatever ``tie_word_embeddings`` says: the class declares no tied weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, router
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.state_space import mamba2_mixer
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("nemotron_h",)

_UP_DOWN = ("up_proj", "down_proj")


def mamba(config: ModelConfig) -> Module:
    heads, head_dim = config.integer("mamba_num_heads"), config.integer("mamba_head_dim")
    return mamba2_mixer(
        config.integer("hidden_size"),
        heads * head_dim,
        heads,
        head_dim,
        config.integer("n_groups"),
        config.integer("ssm_state_size"),
        config.integer("conv_kernel"),
        bias=config.flag("use_bias"),
        conv_bias=config.flag("use_conv_bias"),
    )


def mixture(config: ModelConfig) -> Module:
    """Experts without a gate; with ``moe_latent_size`` they work in a narrower space between two projections."""
    hidden, experts, bias = (
        config.integer("hidden_size"),
        config.integer("n_routed_experts"),
        config.flag("mlp_bias"),
    )
    latent = config.optional_integer("moe_latent_size")
    width = hidden if latent is None else latent
    routed = fused_experts(
        width,
        config.integer("moe_intermediate_size"),
        experts,
        config.integer("num_experts_per_tok"),
        gated=False,
        names=_UP_DOWN,
    )
    # A width of 0 falls back to that of the dense layers.
    shared = config.integer("moe_shared_expert_intermediate_size") or config.integer("intermediate_size")
    return Module(
        "MixtureOfExperts",
        children=children(
            experts=routed,
            gate=router(hidden, experts, correction_bias="e_score_correction_bias"),
            shared_experts=mlp(hidden, shared, bias, names=_UP_DOWN, part="shared experts"),
            fc1_latent_proj=None if latent is None else linear(hidden, latent, bias, part="experts"),
            fc2_latent_proj=None if latent is None else linear(latent, hidden, bias, part="experts"),
        ),
    )


def mixer(config: ModelConfig, kind: JSONScalar) -> Module:
    hidden = config.integer("hidden_size")
    if kind == "linear_attention":
        return mamba(config)
    if kind == "full_attention":
        heads, kv_heads = config.integer("num_attention_heads"), config.optional_integer("num_key_value_heads")
        return attention(hidden, heads, kv_heads, config.optional_integer("head_dim"), position="none")
    if kind == "moe":
        return mixture(config)
    if kind == "mlp":
        return mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias"), names=_UP_DOWN)
    raise CannotBuild(f"{kind!r} is not a layer type of nemotron_h", ("layers_block_type",))


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    backbone = Module(
        "Model",
        children=children(
            embeddings=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(
                config.layers("layers_block_type"),
                lambda kind: Module("Block", children=children(norm=rms_norm(hidden), mixer=mixer(config, kind))),
            ),
            norm_f=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden, embedding="embeddings.weight", tied=False)
