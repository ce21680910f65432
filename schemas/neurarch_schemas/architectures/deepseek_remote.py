"""DeepSeek's layouts with the code that comes with models: its first mixture of experts, Kimi K2, vision models on V2.

As the transformers classes, but experts are modules of their own and the balancing bias is a parameter. Totals equal
the published ones of Kimi K2 (1,026,408,232,448) and DeepSeek-MoE 16B (16,375,728,128).
"""

from __future__ import annotations

from neurarch_schemas.architectures import decoder, deepseek
from neurarch_schemas.architectures.decoder import decoder_layer, from_layer, language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import shared_experts
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.tree import Module, Routing, Tensor, children, stack

MODEL_TYPES = ("deepseek", "kimi_k2")


def gate(config: ModelConfig, hidden: int, experts: int) -> Module:
    tensors = [Tensor("weight", (experts, hidden))]
    if config.get("topk_method") == "noaux_tc":
        tensors.append(Tensor("e_score_correction_bias", (experts,)))
    return Module("Router", tuple(tensors), part="router", multiply_accumulates=hidden * experts, width_in=hidden)


def mixture(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    total, active = config.integer("n_routed_experts"), config.integer("num_experts_per_tok")
    expert = gated_mlp(hidden, inner, part="experts").with_(routing=Routing(total, active, fused=False))
    shared = config.optional_integer("n_shared_experts")
    return Module(
        "MixtureOfExperts",
        children=children(
            experts=stack(expert, times=total),
            gate=gate(config, hidden, total),
            shared_experts=None if shared is None else shared_experts(hidden, inner * shared),
        ),
        part="router",
        width_in=hidden,
        width_out=hidden,
    )


def sparse_layers(config: ModelConfig) -> LayerPattern[bool]:
    """Every ``moe_layer_freq``-th layer from ``first_k_dense_replace`` on."""
    length, first = config.integer("num_hidden_layers"), config.integer("first_k_dense_replace", 0)
    if config.integer("moe_layer_freq", 1) != 1:
        raise CannotBuild("mixtures of experts in some of the layers only are not built", ("moe_layer_freq",))
    if not config.is_set("n_routed_experts"):
        return LayerPattern.constant(False, length)
    return from_layer(first, length)


def layer(config: ModelConfig, sparse: bool) -> Module:
    hidden = config.integer("hidden_size")
    if config.model_type != "deepseek" and config.flag("use_mla", True):
        mixer = deepseek.self_attention(config, indexed=False)
    else:
        mixer = decoder.self_attention(config, bias=config.flag("attention_bias"), divided=True)
    dense = gated_mlp(hidden, config.integer("intermediate_size"))
    return decoder_layer(hidden, mixer, mixture(config) if sparse else dense)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(sparse_layers(config), lambda sparse: layer(config, sparse)))
