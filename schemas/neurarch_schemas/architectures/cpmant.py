"""CPM-Ant: relative position buckets, prompt embeddings in the token table, gated feed-forward."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import embedding, linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("cpmant",)


def feed_forward(hidden: int, inner: int) -> Module:
    gate = children(w_0=linear(hidden, inner, bias=False), w_1=linear(hidden, inner, bias=False))
    return Module(
        "FeedForward",
        children=children(w_in=Module("Gate", children=gate), w_out=linear(inner, hidden, bias=False)),
        part="feed-forward",
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    prompt = config.integer("prompt_length")
    mixer = attention(
        hidden,
        heads,
        head_dim=config.integer("dim_head"),
        names=("project_q", "project_k", "project_v", "attention_out"),
        position="relative",
    )
    # The learned prompt stands in front of every text and is cached with it.
    mixer = mixer.with_(caches=tuple(cache._replace(constant=prompt * cache.per_token) for cache in mixer.caches))
    block = Module(
        "Block",
        children=children(
            self_att=Module(
                "SelfAttention", children=children(layernorm_before_attention=rms_norm(hidden), self_attention=mixer)
            ),
            ffn=Module(
                "FeedForwardBlock",
                children=children(
                    layernorm_before_ffn=rms_norm(hidden), ffn=feed_forward(hidden, config.integer("dim_ff"))
                ),
            ),
        ),
        width_in=hidden,
        width_out=hidden,
    )
    encoder = Module(
        "Encoder",
        children=children(
            layers=uniform(block, config.integer("num_hidden_layers")), output_layernorm=rms_norm(hidden)
        ),
    )
    segments = config.integer("segment_types")
    buckets = segments * segments + config.integer("position_bias_num_buckets")
    rows = config.integer("vocab_size") + config.integer("prompt_types") * prompt
    backbone = Module(
        "Model",
        children=children(
            encoder=encoder,
            segment_embedding=embedding(segments, hidden),
            input_embedding=token_embedding(rows, hidden),
            position_bias=Module(
                "PositionBias", (Tensor("relative_attention_bias", (buckets, heads)),), part="position"
            ),
        ),
        width_out=hidden,
    )
    # The head has fewer rows than the token table (no prompts), so transformers never ties the two.
    return with_language_head(config, backbone, hidden=hidden, prefix="cpmant", tied=False)
