"""Gemma 4 assistant: a small drafting decoder that reads the hidden state (and the caches) of a larger model."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("gemma4_unified_assistant", "gemma4_assistant")


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "ForCausalLM":
        raise unknown_head(config.architecture)
    text = config.nested_config("text_config")
    hidden, vocabulary = text.integer("hidden_size"), text.integer("vocab_size")
    outside = config.integer("backbone_hidden_size")
    changes = {}
    if not text.integer("num_kv_shared_layers", 0):
        # All layers read the caches of the large model unless the file says otherwise.
        changes["num_kv_shared_layers"] = text.integer("num_hidden_layers")
    centroids = Module(
        "CentroidHead",
        (Tensor("token_ordering", (vocabulary,), "buffer"),),
        children(centroids=linear(hidden, config.integer("num_centroids"), bias=False)),
        part="head",
    )
    tied_to = "model.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
    return Module(
        config.architecture,
        children=children(
            model=build_nested(config, "text_config", "Model", **changes),
            lm_head=lm_head(hidden, vocabulary, tied_to=tied_to),
            pre_projection=linear(2 * outside, hidden, bias=False, part="projector"),
            post_projection=linear(hidden, outside, bias=False, part="projector"),
            masked_embedding=centroids if config.flag("use_ordered_embeddings") else None,
        ),
    )
