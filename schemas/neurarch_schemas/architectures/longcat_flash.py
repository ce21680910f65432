"""LongCat-Flash: each layer has two latent attentions and two dense MLPs around one mixture of experts.

Some experts are "zero experts" which pass their input on. transformers gives them rows in the first expert tensor only.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import latent_attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import Module, Routing, ShapeProblem, Tensor, children

MODEL_TYPES = ("longcat_flash",)


def self_attention(config: ModelConfig) -> Module:
    nope, rope = config.integer("qk_nope_head_dim"), config.integer("qk_rope_head_dim")
    heads, rank = config.integer("num_attention_heads"), config.integer("q_lora_rank")
    block = latent_attention(
        config.integer("hidden_size"),
        heads,
        q_lora_rank=rank,
        kv_lora_rank=config.integer("kv_lora_rank"),
        nope_dim=nope,
        rope_dim=rope,
        v_dim=config.integer("v_head_dim"),
        bias=config.flag("attention_bias"),
    )
    qk_dim = config.integer("qk_head_dim", nope + rope)
    if qk_dim == nope + rope:
        return block
    # The class sizes the query projection by qk_head_dim, the rest by its two parts: it builds, but cannot run.
    message = f"qk_head_dim {qk_dim} is not qk_nope_head_dim {nope} + qk_rope_head_dim {rope}"
    problem = ShapeProblem(message, qk_dim, nope + rope, ("qk_head_dim", "qk_nope_head_dim", "qk_rope_head_dim"))
    queries = linear(rank, heads * qk_dim, bias=False)
    swapped = tuple((name, queries if name == "q_b_proj" else child) for name, child in block.children)
    return block.with_(children=swapped, problems=(*block.problems, problem))


def mixture(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("expert_ffn_hidden_size")
    experts, active = config.integer("n_routed_experts"), config.integer("moe_topk")
    every = experts + config.integer("zero_expert_num", 0)
    gate = Module(
        "Router",
        (Tensor("e_score_correction_bias", (every,), "buffer"),),
        children(classifier=linear(hidden, every, config.flag("router_bias"))),
        part="router",
    )
    # One child a tensor, as the two divide by different numbers of experts.
    up = Module(
        "Experts",
        (Tensor("gate_up_proj", (every, 2 * inner, hidden)),),
        part="experts",
        routing=Routing(every, active),
        multiply_accumulates=active * 2 * inner * hidden,
    )
    down = Module(
        "Experts",
        (Tensor("down_proj", (experts, hidden, inner)),),
        part="experts",
        routing=Routing(experts, active),
        multiply_accumulates=active * inner * hidden,
    )
    built = (("experts", up), ("experts", down)) if experts else ()
    return Module("MixtureOfExperts", children=(*built, ("router", gate)), width_in=hidden, width_out=hidden)


def layer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "DecoderLayer",
        children=children(
            mlp=mixture(config),
            self_attn=uniform(self_attention(config), 2),
            mlps=uniform(gated_mlp(hidden, config.integer("ffn_hidden_size")), 2),
            input_layernorm=uniform(rms_norm(hidden), 2),
            post_attention_layernorm=uniform(rms_norm(hidden), 2),
        ),
    )


def build(config: ModelConfig) -> Module:
    return language_model(config, uniform(layer(config), config.integer("num_layers")))
