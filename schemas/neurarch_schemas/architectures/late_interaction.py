"""ColPali (arXiv:2407.01449) and its kind: a vision-language model whose every token becomes a short vector."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("colpali", "colqwen2", "colmodernvbert")


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "ForRetrieval":
        raise unknown_head(config.architecture)
    hidden = config.nested_config("vlm_config").nested_config("text_config").integer("hidden_size")
    projection = linear(hidden, config.integer("embedding_dim"), part="head")
    return Module(
        config.architecture,
        children=(("vlm", build_nested(config, "vlm_config")), ("embedding_proj_layer", projection)),
    )
