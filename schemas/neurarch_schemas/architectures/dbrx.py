"""DBRX: grouped-query attention out of one matrix, experts as stacked rows of three tensors, nested size objects."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Routing, Tensor, children

MODEL_TYPES = ("dbrx",)


# Defaults of the two nested config classes.
_ATTENTION = {"kv_n_heads": 1}
_FEED_FORWARD = {"ffn_hidden_size": 3584, "moe_num_experts": 4, "moe_top_k": 1}


def nested(config: ModelConfig, name: str, defaults: Mapping[str, int]) -> dict[str, int]:
    """The sizes in a nested object that is no config of its own, defaulted key by key."""
    written = config.mapping(name) if config.is_set(name) else {}
    sizes = {key: written.get(key, default) for key, default in defaults.items()}
    found = {key: size for key, size in sizes.items() if isinstance(size, int) and size >= 0}
    if len(found) < len(sizes):
        raise CannotBuild(f"{name} holds a size that is not a natural number", (name,))
    return found


def moe(config: ModelConfig) -> Module:
    sizes = nested(config, "ffn_config", _FEED_FORWARD)
    # The config class sets the experts' hidden size to the model's, whatever the file says.
    hidden = config.integer("d_model")
    inner, experts, active = (sizes[key] for key in _FEED_FORWARD)
    weights = tuple(Tensor(name, (experts * inner, hidden)) for name in ("w1", "v1", "w2"))
    gated = Module("Experts", weights, multiply_accumulates=3 * active * inner * hidden)
    router = Module("Router", children=children(layer=linear(hidden, experts, bias=False)), part="router")
    return Module(
        "MixtureOfExperts",
        children=children(
            router=router,
            experts=Module("Experts", children=children(mlp=gated), part="experts", routing=Routing(experts, active)),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden, heads = config.integer("d_model"), config.integer("n_heads")
    kv_heads, dim = nested(config, "attn_config", _ATTENTION)["kv_n_heads"], hidden // heads
    norm = layer_norm(hidden, bias=False)
    mixer = attention_block(
        {
            "Wqkv": linear(hidden, hidden + 2 * kv_heads * dim, bias=False),
            "out_proj": linear(hidden, hidden, bias=False),
        },
        AttentionShape(heads, kv_heads, dim, dim, position="rope"),
        hidden=hidden,
    )
    attention = Module("NormAttentionNorm", children=children(norm_1=norm, attn=mixer, norm_2=norm))
    block = Module(
        "Block",
        children=children(norm_attn_norm=attention, ffn=moe(config)),
        width_in=hidden,
        width_out=hidden,
    )
    return language_model(
        config,
        uniform(block, config.integer("n_layers")),
        hidden=hidden,
        norm=norm,
        names=("wte", "blocks", "norm_f"),
        prefix="transformer",
    )
