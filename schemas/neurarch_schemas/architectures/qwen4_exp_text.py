"""Qwen4-Exp (text): gated delta nets between gated attention with an indexer, experts, several residual streams.

Layers in ``ple_layer_ids`` (counted from 1) also add hashed n-gram embeddings to every stream.
"""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.architectures.qwen3_next import delta_net
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block, selecting
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.layers import convolution, linear, rms_norm, token_embedding
from neurarch_schemas.modules.ngram_embedding import ngram_embedding, primes_from
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Selection, children

MODEL_TYPES = ("qwen4_exp_text",)


def gated_residual(config: ModelConfig, combined: bool = True) -> Module:
    """Mixes the streams into one input through a narrow matrix, and the block's output back into each stream."""
    hidden, streams, rank = (config.integer(key) for key in ("hidden_size", "hc_count", "hc_lowrank"))
    width = streams * hidden
    return Module(
        "GatedResidual",
        children=children(
            hc_norm=rms_norm(width),
            input_mix_weight_down=linear(width, rank, bias=False),
            input_mix_weight_up=linear(rank, width, bias=False),
            block_inject_weight=linear(width, streams, bias=False) if combined else None,
        ),
    )


def indexer(config: ModelConfig) -> Module:
    """Scores blocks of keys; raw index keys are cached and pooled when they are read."""
    hidden, dim = config.integer("hidden_size"), config.integer("indexer_head_dim")
    heads, kv_heads = config.integer("indexer_n_heads"), config.integer("indexer_kv_heads")
    return Module(
        "Indexer",
        children=children(
            index_qk_proj=linear(hidden, (heads + kv_heads) * dim, bias=False),
            q_layernorm=rms_norm(dim),
            k_layernorm=rms_norm(dim),
        ),
        caches=(Cache("index", per_token=kv_heads * dim),),
    )


def self_attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim = config.integer("num_key_value_heads"), config.integer("head_dim", hidden // heads)
    bias = config.flag("attention_bias")
    block = attention_block(
        {
            # The second half of the query projection gates the output.
            "q_proj": linear(hidden, 2 * heads * dim, bias),
            "k_proj": linear(hidden, kv_heads * dim, bias),
            "v_proj": linear(hidden, kv_heads * dim, bias),
            "o_proj": linear(heads * dim, hidden, bias),
            "q_norm": rms_norm(dim),
            "k_norm": rms_norm(dim),
            "indexer": indexer(config),
        },
        AttentionShape(heads, kv_heads, dim, dim, "sparse", qk_norm=True, position="partial rope"),
        hidden=hidden,
    )
    width = config.integer("indexer_n_heads") * config.integer("indexer_head_dim")
    ratio = config.optional_integer("indexer_compress_ratio") or 1
    most = config.optional_integer("indexer_budget")
    return selecting(block, Selection(most, index_width=width, tokens_per_candidate=ratio))


def moe(config: ModelConfig) -> Module:
    hidden, experts = config.integer("hidden_size"), config.integer("num_experts")
    inner, active = config.integer("moe_intermediate_size"), config.integer("num_experts_per_tok")
    return mixture_of_experts(
        hidden,
        router(hidden, experts),
        fused_experts(hidden, inner, experts, active),
        extra={
            "shared_expert": shared_experts(hidden, config.integer("shared_expert_intermediate_size")),
            "shared_expert_gate": linear(hidden, 1, bias=False, part="shared experts"),
        },
    )


def ngrams(config: ModelConfig, sizes: list[int]) -> Module:
    """N-gram embeddings as one value for all streams, gated by a key a stream, behind a dilated convolution."""
    hidden, kernel = config.integer("hidden_size"), config.integer("ple_conv_kernel_size")
    width, order = hidden * config.integer("hc_count"), config.integer("ngram_size")
    inner = config.integer("ple_embed_dim", hidden)
    if not sizes:
        raise CannotBuild("layers with n-gram embeddings need at least one head", ("ngram_size", "heads_per_ngram"))
    states = Cache("convolution", constant=width * max(kernel - 1, 0) * order)
    # The last tokens themselves are kept too, to form n-grams with the next one.
    context = Cache("convolution", constant=order - 1)
    return Module(
        "NGramLayer",
        children=children(
            ple_embedding=ngram_embedding(sizes, inner, order, config.integer("make_ngram_vocab_size_divisible_by")),
            key_proj=linear(inner, width, bias=False),
            value_proj=linear(inner, hidden, bias=False),
            norm_key=rms_norm(width),
            norm_query=rms_norm(width),
            norm_conv=rms_norm(width),
            conv1d=convolution(width, width, (kernel,), bias=False, groups=width),
        ),
        part="embedding",
        caches=(states, context),
    )


def layer(config: ModelConfig, kind: object, extra: Module | None) -> Module:
    recurrent = kind == "linear_attention"
    return Module(
        "DecoderLayer",
        children=children(
            linear_attn=delta_net(config) if recurrent else None,
            self_attn=None if recurrent else self_attention(config),
            mlp=moe(config),
            ple=extra,
            attn_hyper_connection=gated_residual(config),
            mlp_hyper_connection=gated_residual(config),
        ),
    )


def ngram_layers(config: ModelConfig) -> LayerPattern[int | None]:
    """The number of each layer among those with n-gram embeddings, None for the others."""
    pattern: LayerPattern[int | None] = LayerPattern.constant(None, config.integer("num_hidden_layers"))
    chosen = config.integers("ple_layer_ids") if config.is_set("ple_layer_ids") else ()
    for number, position in enumerate(sorted(set(chosen))):
        pattern = pattern.with_item(position - 1, number)
    return pattern


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    chosen = ngram_layers(config)
    heads = max(config.integer("ngram_size") - 1, 0) * config.integer("heads_per_ngram")
    last = max((number for number in chosen.counts() if number is not None), default=-1)
    primes = primes_from(config.integer("ngram_vocab_size_base"), (last + 1) * heads)

    def block(kind: tuple[object, int | None]) -> Module:
        mixer, number = kind
        sizes = None if number is None else primes[number * heads : (number + 1) * heads]
        return layer(config, mixer, None if sizes is None else ngrams(config, sizes))

    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(config.layers("layer_types").zip(chosen), block),
            hyper_connection_mixer=gated_residual(config, combined=False),
        ),
        width_out=hidden,
    )
    return with_language_head(config, backbone, hidden=hidden)
