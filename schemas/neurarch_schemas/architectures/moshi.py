"""Moshi: a decoder over text tokens within a sliding window, beside which a codec and a depth decoder speak.

The output head is never tied, and the embedding has one row more than the head.
"""

from __future__ import annotations

from neurarch_schemas.architectures import with_settings
from neurarch_schemas.architectures.composite import tower
from neurarch_schemas.architectures.decoder import decoder_layer
from neurarch_schemas.architectures.language_heads import head_name, with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import embedding, linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children
from neurarch_schemas.record import replace

MODEL_TYPES = ("moshi", "moshi_depth")


def wrapped(inputs: int, outputs: int) -> Module:
    return Module("MoshiLinear", children=children(linear=linear(inputs, outputs, bias=False)))


def layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads = config.integer("num_key_value_heads", heads)
    dim = config.integer("head_dim", 0) or hidden // heads
    inner, window = config.integer("ffn_dim"), config.optional_integer("sliding_window")
    mixer = attention_block(
        {
            "q_proj": wrapped(hidden, heads * dim),
            "k_proj": wrapped(hidden, kv_heads * dim),
            "v_proj": wrapped(hidden, kv_heads * dim),
            "o_proj": wrapped(heads * dim, hidden),
        },
        AttentionShape(heads, kv_heads, dim, dim, "full" if window is None else "sliding", window, position="rope"),
        hidden=hidden,
    )
    # Gate and value come out of the first map, so it is ffn_dim wide and the second reads half of that.
    transform = Module(
        "GatedMLP",
        children=children(fc1=linear(hidden, inner, bias=False), fc2=linear(inner // 2, hidden, bias=False)),
        part="feed-forward",
    )
    return decoder_layer(hidden, mixer, transform)


def flexible(inputs: int, outputs: int, books: int) -> Module:
    """A matrix for each codebook, of which a token uses one."""
    weight = Tensor("weight", (books, outputs, inputs))
    return Module("FlexibleLinear", (weight,), multiply_accumulates=inputs * outputs, width_out=outputs)


def depth_layer(config: ModelConfig, books: int) -> Module:
    """As ``layer``, with a matrix for each codebook. Its cache is emptied for every frame, so it does not grow."""
    hidden, heads, inner = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("ffn_dim"),
    )
    kv_heads = config.integer("num_key_value_heads", heads)
    dim = config.integer("head_dim", 0) or hidden // heads

    def projection(inputs: int, outputs: int) -> Module:
        return Module("MoshiLinear", children=children(linear=flexible(inputs, outputs, books)))

    mixer = attention_block(
        {
            "q_proj": projection(hidden, heads * dim),
            "k_proj": projection(hidden, kv_heads * dim),
            "v_proj": projection(hidden, kv_heads * dim),
            "o_proj": projection(heads * dim, hidden),
        },
        AttentionShape(heads, kv_heads, dim, dim, "full", position="none"),
        hidden=hidden,
        caches=(),
    )
    if books == 1:
        first, second = linear(hidden, inner, bias=False), linear(inner // 2, hidden, bias=False)
    else:
        first, second = flexible(hidden, inner, books), flexible(inner // 2, hidden, books)
    transform = Module("GatedMLP", children=children(fc1=first, fc2=second), part="feed-forward")
    return decoder_layer(hidden, mixer, transform)


def depth_decoder(config: ModelConfig) -> Module:
    """Writes one code after the other; the last codebook is never read."""
    hidden, books, entries = (
        config.integer("hidden_size"),
        config.integer("num_codebooks"),
        config.integer("audio_vocab_size"),
    )
    return Module(
        "DepthDecoder",
        children=children(
            text_embed_tokens=embedding(config.integer("vocab_size") + 1, hidden, lookup=True),
            embed_tokens=uniform(embedding(entries + 1, hidden, lookup=True), books - 1),
            input_projections=flexible(config.integer("input_size"), hidden, books),
            layers=uniform(depth_layer(config, books), config.integer("num_hidden_layers")),
            lm_heads=flexible(hidden, entries, books).with_(part="head"),
        ),
    )


def speaking(config: ModelConfig) -> Module:
    """Two streams of codes, the user's and the model's own, are read; the depth decoder takes sizes from outside."""
    hidden, books, entries = (
        config.integer("hidden_size"),
        config.integer("num_codebooks"),
        config.integer("audio_vocab_size"),
    )
    depth = with_settings(
        config.nested_config("depth_decoder_config"),
        audio_vocab_size=entries,
        input_size=hidden,
        vocab_size=config.integer("vocab_size"),
        num_codebooks=books,
    )
    return Module(
        config.architecture,
        children=children(
            embed_tokens=uniform(embedding(entries + 1, hidden, lookup=True), 2 * books),
            audio_encoder=tower(config, "audio_encoder_config", "audio"),
            decoder=language_model(replace(config, architecture="MoshiForCausalLM")),
            depth_decoder=depth_decoder(depth),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "moshi_depth":
        return depth_decoder(config)
    if head_name(config.architecture) == "ForConditionalGeneration":
        return speaking(config)
    return language_model(config)


def language_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size") + 1, hidden),
            layers=uniform(layer(config), config.integer("num_hidden_layers")),
            norm=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden, tied=False)
