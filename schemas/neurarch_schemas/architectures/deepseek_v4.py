"""DeepSeek-V4: one shared key/value head over a sliding window, compressed entries for what lies before it.

Heavily compressed layers keep one entry for every 128 tokens; compressed sparse layers one for every 4, chosen by an
indexer with compressed keys of its own. Hyper-connections carry several residual streams. Early layers route by a table
from token to expert, which is a buffer. Keys serve as values, so an entry is stored once.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block, selecting
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.hyper_connections import hyper_connection, hyper_head
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Selection, Stack, Tensor, children

MODEL_TYPES = ("deepseek_v4",)

_RATES = {"compressed_sparse_attention": 4, "heavily_compressed_attention": 128}


def compress_rate(config: ModelConfig, kind: str) -> int:
    """Tokens a compressed entry stands for."""
    rates = config.mapping("compress_rates") if config.is_set("compress_rates") else _RATES
    rate = rates.get(kind)
    if not isinstance(rate, int) or isinstance(rate, bool) or rate < 1:
        raise CannotBuild(f"compress_rates has no positive number for {kind}", ("compress_rates",))
    return rate


def compressor_caches(width: int, rate: int, *, overlap: bool, index: bool = False) -> tuple[Cache, ...]:
    """Compressed entries; keys and gates of tokens not compressed yet, and of the last group where groups overlap."""
    series = 2 if overlap else 1
    held = (
        Cache("index" if index else "compressed", per_token=width, tokens_per_entry=rate),
        Cache("compressed", per_token=2 * series * width, remainder_of=rate),
    )
    if not overlap:
        return held
    return (*held, Cache("compressed", constant=2 * rate * width, constant_from=rate))


def compressor(
    hidden: int,
    width: int,
    rate: int,
    *,
    overlap: bool,
    index: bool = False,
    extra: dict[str, Module | Stack | None] | None = None,
) -> Module:
    """Pools ``rate`` tokens into one entry of ``width``, weighted by learned gates and positions."""
    inner = 2 * width if overlap else width
    return Module(
        "Indexer" if index else "Compressor",
        (Tensor("position_bias", (rate, inner)),),
        children(
            kv_proj=linear(hidden, inner, bias=False),
            gate_proj=linear(hidden, inner, bias=False),
            kv_norm=rms_norm(width),
            **(extra or {}),
        ),
        caches=compressor_caches(width, rate, overlap=overlap, index=index),
    )


def compression(config: ModelConfig, kind: JSONScalar) -> Module | None:
    hidden, dim = config.integer("hidden_size"), config.integer("head_dim")
    if kind == "sliding_attention":
        return None
    if kind == "heavily_compressed_attention":
        return compressor(hidden, dim, compress_rate(config, kind), overlap=False)
    if kind != "compressed_sparse_attention":
        raise CannotBuild(f"{kind!r} is not a layer type of deepseek_v4", ("layer_types",))
    rate, heads = compress_rate(config, kind), config.integer("index_n_heads")
    index_dim = config.integer("index_head_dim")
    scorer = Module("Scorer", children=children(weights_proj=linear(hidden, heads, bias=False)))
    queries = linear(config.integer("q_lora_rank"), heads * index_dim, bias=False)
    indexer = compressor(
        hidden, index_dim, rate, overlap=True, index=True, extra={"q_b_proj": queries, "scorer": scorer}
    )
    return compressor(hidden, dim, rate, overlap=True, extra={"indexer": indexer})


def self_attention(config: ModelConfig, kind: JSONScalar) -> Module:
    hidden, heads, dim = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("head_dim"),
    )
    rank, window = config.integer("q_lora_rank"), config.integer("sliding_window")
    groups, out_rank = config.integer("o_groups"), config.integer("o_lora_rank")
    sliding = kind == "sliding_attention"
    shape = AttentionShape(
        heads, 1, dim, dim, "sliding" if sliding else "sparse", window if sliding else None, position="partial rope"
    )
    block = attention_block(
        {
            "q_a_proj": linear(hidden, rank, bias=False),
            "q_a_norm": rms_norm(rank),
            "q_b_proj": linear(rank, heads * dim, bias=False),
            "kv_proj": linear(hidden, dim, bias=False),
            "kv_norm": rms_norm(dim),
            # Each group of heads has its own projection to out_rank.
            "o_a_proj": linear(heads * dim // groups, groups * out_rank, bias=False),
            "o_b_proj": linear(groups * out_rank, hidden, bias=False),
            "compressor": compression(config, kind),
        },
        shape,
        hidden=hidden,
        caches=(Cache("sliding", per_token=dim * (2 if sliding else 1), window=window),),
    )
    if not sliding:
        block = selecting(block, chosen_entries(config, kind))
    return block.with_(tensors=(Tensor("sinks", (heads,)),))


def chosen_entries(config: ModelConfig, kind: JSONScalar) -> Selection:
    """The last tokens, and compressed entries: all of the heavily compressed, else those an indexer picks."""
    rate, local = compress_rate(config, str(kind)), config.integer("sliding_window")
    if kind == "heavily_compressed_attention":
        return Selection(tokens_per_key=rate, local=local)
    width = config.integer("index_n_heads") * config.integer("index_head_dim")
    return Selection(config.optional_integer("index_topk"), rate, local, width, rate)


def mixture(config: ModelConfig, kind: JSONScalar) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    experts, active = config.integer("n_routed_experts"), config.integer("num_experts_per_tok")
    if kind == "hash_moe":
        gate = router(hidden, experts)
        table = Tensor("tid2eid", (config.integer("vocab_size"), active), "buffer")
        gate = gate.with_(tensors=(*gate.tensors, table))
    else:
        gate = router(hidden, experts, correction_bias="e_score_correction_bias")
    return mixture_of_experts(
        hidden,
        gate,
        fused_experts(hidden, inner, experts, active),
        extra={"shared_experts": shared_experts(hidden, inner, config.flag("mlp_bias"))},
    )


def layer(config: ModelConfig, mixer: JSONScalar, transform: JSONScalar) -> Module:
    hidden, streams = config.integer("hidden_size"), config.integer("hc_mult")
    connection = hyper_connection(hidden, streams, (2 + streams) * streams, 3)
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=self_attention(config, mixer),
            mlp=mixture(config, transform),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
            attn_hc=connection,
            ffn_hc=connection,
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden, length = config.integer("hidden_size"), config.integer("num_hidden_layers")
    pattern = config.layers("layer_types").zip(config.layers("mlp_layer_types")).head(length)
    return language_model(
        config,
        layers(pattern, lambda kind: layer(config, *kind)),
        after={"hc_head": hyper_head(hidden, config.integer("hc_mult"))},
    )
