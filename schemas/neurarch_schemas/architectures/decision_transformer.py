"""Decision Transformer: GPT-2 over returns, states and actions instead of tokens."""

from __future__ import annotations

from neurarch_schemas.architectures.gpt2 import backbone
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("decision_transformer",)


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    hidden, states, actions = (config.integer(key) for key in ("hidden_size", "state_dim", "act_dim"))
    gpt2 = backbone(config)
    if "GPT2" in config.architecture:
        return gpt2
    return Module(
        config.architecture,
        children=children(
            # The token and position tables of GPT-2 are there, and never read.
            encoder=gpt2,
            embed_timestep=embedding(config.integer("max_ep_len"), hidden),
            embed_return=linear(1, hidden),
            embed_state=linear(states, hidden),
            embed_action=linear(actions, hidden),
            embed_ln=layer_norm(hidden),
            predict_state=linear(hidden, states, part="head"),
            predict_action=Module("Sequential", children=(("0", linear(hidden, actions)),), part="head"),
            predict_return=linear(hidden, 1, part="head"),
        ),
    )
