"""Pi0: a vision-language model and a smaller decoder over actions that attends to the same sequence."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("pi0",)


def build(config: ModelConfig) -> Module:
    vocabulary = config.nested_config("vlm_config").nested_config("text_config").integer("vocab_size")
    backbone = Module(
        "Model",
        children=children(
            dit=build_nested(config, "dit_config", vocab_size=vocabulary), vlm=build_nested(config, "vlm_config")
        ),
    )
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head != "ForConditionalGeneration":
        raise unknown_head(config.architecture)
    hidden, actions = config.nested_config("dit_config").integer("hidden_size"), config.integer("max_action_dim")
    inputs = Module(
        "ActionTimeEmbedding",
        children=children(
            action_in_proj=linear(actions, hidden),
            state_proj=linear(config.integer("max_state_dim"), hidden),
            action_time_mlp_in=linear(2 * hidden, hidden),
            action_time_mlp_out=linear(hidden, hidden),
        ),
    )
    return Module(
        config.architecture,
        children=children(
            model=backbone,
            embed_action_time=in_part(inputs, "embedding"),
            action_out_proj=linear(hidden, actions, part="head"),
        ),
    )
