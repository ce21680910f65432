"""XLNet (arXiv:1906.08237): two-stream attention with relative positions; its projections are three-dimensional."""

from __future__ import annotations

from neurarch_schemas.architectures.encoder_heads import vocabulary_projection
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.architectures.xlm import with_classifier
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import layer_norm, linear, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack

MODEL_TYPES = ("xlnet",)


def attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("d_model"), config.integer("n_head")
    dim = config.integer("d_head", hidden // heads) or hidden // heads
    projections = tuple(Tensor(name, (hidden, heads, dim)) for name in ("q", "k", "v", "o", "r"))
    biases = tuple(Tensor(name, (heads, dim)) for name in ("r_r_bias", "r_s_bias", "r_w_bias"))
    return Module(
        "RelativeAttention",
        (*projections, *biases, Tensor("seg_embed", (2, heads, dim))),
        named({"layer_norm": layer_norm(hidden)}),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="relative"),
        multiply_accumulates=5 * hidden * heads * dim,
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden, inner, head = config.integer("d_model"), config.integer("d_inner"), head_name(config.architecture)
    feed_forward = {
        "layer_norm": layer_norm(hidden),
        "layer_1": linear(hidden, inner),
        "layer_2": linear(inner, hidden),
    }
    block = Module("FeedForward", children=named(feed_forward), part="feed-forward")
    layer = Module("Layer", children=named({"rel_attn": attention(config), "ff": block}))
    model = Module(
        "Model",
        (Tensor("mask_emb", (1, 1, hidden)),),
        named(
            {
                "word_embedding": token_embedding(config.integer("vocab_size"), hidden),
                "layer": stack(layer, times=config.integer("n_layer")),
            }
        ),
    )
    if head == "Model":
        return model
    if head != "LMHeadModel":
        return with_classifier(config, model, hidden)
    table = "transformer.word_embedding.weight" if config.flag("tie_word_embeddings") else None
    projection = vocabulary_projection(hidden, config.integer("vocab_size"), weight=table)
    parts: dict[str, Module | Stack | None] = {"transformer": model, "lm_loss": projection}
    return Module(config.architecture, children=named(parts))
