"""HRM (text): two stacks of layers run in nested cycles, so each layer caches once for every time it runs.

Norms have no weights. The initial state of the low-level stack is a parameter that is not trained.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import head_dim, self_attention
from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, token_embedding
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("hrm_text",)


def layer(config: ModelConfig, runs: int) -> Module:
    """One layer that a forward pass runs ``runs`` times."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    bias = config.flag("attention_bias")
    mixer = self_attention(config, bias=bias, extra={"gate_proj": linear(hidden, heads * head_dim(config), bias)})
    caches = tuple(cache._replace(per_token=cache.per_token * runs) for cache in mixer.caches)
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=mixer.with_(caches=caches),
            mlp=gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
        ),
        passes=runs,
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    high, low = config.integer("H_cycles"), config.integer("L_cycles")
    # num_hidden_layers of a loaded config counts every run of every layer; the stacks have num_layers_per_stack.
    length = config.integer("num_layers_per_stack", config.integer("num_hidden_layers"))
    backbone = Module(
        "Model",
        (Tensor("z_L_init", (hidden,)),),
        children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            L_module=Module("Stack", children=children(layers=uniform(layer(config, high * low), length))),
            H_module=Module("Stack", children=children(layers=uniform(layer(config, high), length))),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden)
