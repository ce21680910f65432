"""ChatGLM 1, 2 and 3, GLM-4 and GLM-4V with the code that came with them.

From the second on: queries of all heads beside few groups of keys and values, out of one biased matrix. Totals equal
the published ones of ChatGLM2-6B, ChatGLM3-6B (6,243,584,000) and GLM-4-9B (9,399,951,360); rotary frequencies are a
persistent buffer of 32 scalars more.
"""

from __future__ import annotations

from neurarch_schemas.architectures.chatglm_vision import eva_clip
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import fused_gated_mlp, mlp
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm, stored_frequencies, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, children

MODEL_TYPES = ("chatglm",)


def norm(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return rms_norm(hidden) if config.flag("rmsnorm", True) else layer_norm(hidden)


def self_attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads = config.integer("multi_query_group_num") if config.flag("multi_query_attention") else heads
    dim, bias = config.integer("kv_channels"), config.flag("add_bias_linear")
    return attention_block(
        {
            "query_key_value": linear(hidden, (heads + 2 * kv_heads) * dim, bias or config.flag("add_qkv_bias")),
            "dense": linear(heads * dim, hidden, bias),
        },
        AttentionShape(heads, kv_heads, dim, dim, position="partial rope"),
        hidden=hidden,
    )


def block(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("ffn_hidden_size")
    names, bias = ("dense_h_to_4h", "dense_4h_to_h"), config.flag("add_bias_linear")
    return Module(
        "Block",
        children=children(
            input_layernorm=norm(config),
            self_attention=self_attention(config),
            post_attention_layernorm=norm(config),
            mlp=fused_gated_mlp(hidden, inner, bias, names=names),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def backbone(config: ModelConfig) -> Module:
    """Embedding, layers and output layer are one module; the generating class only wraps it."""
    hidden, vocabulary = config.integer("hidden_size"), config.integer("padded_vocab_size")
    encoder = Module(
        "Encoder",
        children=children(
            layers=uniform(block(config), config.integer("num_layers")),
            final_layernorm=norm(config) if config.flag("post_layer_norm", True) else None,
        ),
    )
    vision = config.nested.get("vision_config")
    return Module(
        "Model",
        children=children(
            embedding=Module("Embedding", children=children(word_embeddings=token_embedding(vocabulary, hidden))),
            rotary_pos_emb=stored_frequencies(config.integer("kv_channels") // 4),
            encoder=encoder,
            output_layer=lm_head(hidden, vocabulary),
            vision=None if vision is None else eva_clip(vision, hidden, config.integer("ffn_hidden_size")),
        ),
        width_out=hidden,
    )


def first_block(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = hidden // heads
    mixer = attention_block(
        {
            # With two-dimensional positions each half of a head is rotated on its own.
            "rotary_emb": stored_frequencies(dim // 4 if config.flag("position_encoding_2d", True) else dim // 2),
            "query_key_value": linear(hidden, 3 * hidden),
            "dense": linear(hidden, hidden),
        },
        AttentionShape(heads, heads, dim, dim, position="rope"),
        hidden=hidden,
    )
    inner = config.integer("inner_hidden_size")
    return Module(
        "Block",
        children=children(
            input_layernorm=layer_norm(hidden),
            attention=mixer,
            post_attention_layernorm=layer_norm(hidden),
            mlp=mlp(hidden, inner, names=("dense_h_to_4h", "dense_4h_to_h")),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def first_generation(config: ModelConfig) -> Module:
    """ChatGLM-6B: LayerNorm, keys and values for every head, a feed-forward block without a gate."""
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    model = Module(
        "Model",
        children=children(
            word_embeddings=token_embedding(vocabulary, hidden),
            layers=uniform(first_block(config), config.integer("num_layers")),
            final_layernorm=layer_norm(hidden),
        ),
        width_out=hidden,
    )
    if config.architecture == "ChatGLMForConditionalGeneration":
        tied = "transformer.word_embeddings.weight" if config.flag("tie_word_embeddings", True) else None
        return Module(
            config.architecture,
            children=children(transformer=model, lm_head=lm_head(hidden, vocabulary, tied_to=tied)),
        )
    return model


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    if head not in ("Model", "ForConditionalGeneration", "ForSequenceClassification"):
        raise unknown_head(config.architecture)
    if config.optional_integer("pre_seq_len"):
        raise CannotBuild("the prefix encoder of ChatGLM is not built", ("pre_seq_len",))
    if config.is_set("inner_hidden_size"):
        if head == "ForSequenceClassification":
            raise unknown_head(config.architecture)
        return first_generation(config)
    model = backbone(config)
    if head == "Model":
        return model
    score = linear(config.integer("hidden_size"), label_count(config), part="head")
    return Module(
        config.architecture,
        children=children(transformer=model, classifier_head=score if head == "ForSequenceClassification" else None),
    )
