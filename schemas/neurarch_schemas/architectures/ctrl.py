"""CTRL: sinusoidal positions, plain feed-forward in a Sequential, a head with a bias."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.architectures.language_heads import head_name, label_count
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, children
from neurarch_schemas.record import replace

MODEL_TYPES = ("ctrl",)


def build(config: ModelConfig) -> Module:
    hidden = config.integer("n_embd")
    block = Module(
        "EncoderLayer",
        children=children(
            multi_head_attention=attention(
                hidden, config.integer("n_head"), bias=True, names=("Wq", "Wk", "Wv", "dense"), position="sinusoidal"
            ),
            ffn=mlp(hidden, config.integer("dff"), names=("0", "2")),
            layernorm1=layer_norm(hidden),
            layernorm2=layer_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )
    stack = uniform(block, config.integer("n_layer"))
    names = ("w", "h", "layernorm")
    norm = layer_norm(hidden)
    if head_name(config.architecture) == "ForSequenceClassification":
        bare = language_model(replace(config, architecture="Model"), stack, hidden=hidden, norm=norm, names=names)
        top = linear(hidden, label_count(config), bias=False, part="head")
        return Module(config.architecture, children=children(transformer=bare, classifier=top))
    return language_model(config, stack, hidden=hidden, norm=norm, names=names, prefix="transformer", head_bias=True)
