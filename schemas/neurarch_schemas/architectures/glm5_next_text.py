"""GLM-5.3 Flash (text): delta attention layers between latent attention with an indexer, experts, hyper-connections."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, feed_forward, language_model
from neurarch_schemas.architectures.deepseek import chosen_keys, indexer, moe
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import latent_attention, selecting
from neurarch_schemas.modules.hyper_connections import hyper_connection
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.linear_attention import kimi_delta_attention
from neurarch_schemas.modules.tree import Cache, Module, Tensor, children

MODEL_TYPES = ("glm5_next_text",)

# Mixing weights of one hyper-connection: streams x streams between streams, and one vector in and one out.
HYPER_SCALES = 3


def pooling_indexer(config: ModelConfig) -> Module:
    """An indexer that pools ``index_kpool`` keys; it caches each key with its gate scores and one validity mark."""
    hidden, dim = config.integer("hidden_size"), config.integer("index_head_dim")
    return indexer(config).with_(
        tensors=(
            Tensor("index_kpool_compress_ape", (config.integer("index_kpool"), dim)),
            Tensor("index_kpool_compress_gate", (dim, hidden)),
        ),
        multiply_accumulates=hidden * dim,
        caches=(Cache("index", per_token=2 * dim + 1),),
    )


def sparse_attention(config: ModelConfig, indexed: object) -> Module:
    block = latent_attention(
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        q_lora_rank=config.integer("q_lora_rank"),
        kv_lora_rank=config.integer("kv_lora_rank"),
        nope_dim=config.integer("qk_nope_head_dim"),
        rope_dim=config.integer("qk_rope_head_dim"),
        v_dim=config.integer("v_head_dim"),
        bias=config.flag("attention_bias"),
        extra={"indexer": None if indexed == "shared" else pooling_indexer(config)},
    )
    chosen = chosen_keys(config, indexed != "shared")
    return selecting(block, chosen._replace(tokens_per_candidate=max(config.integer("index_kpool"), 1)))


def delta_attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("linear_num_heads")
    dim = config.integer("linear_head_dim")
    width = heads * dim
    forget_gate = Module(
        "ForgetGate",
        (Tensor("dt_bias", (width,)), Tensor("A_log", (heads,))),
        children(f_a_proj=linear(hidden, dim, bias=False), f_b_proj=linear(dim, width, bias=False)),
    )
    gate = {"g_a_proj": linear(hidden, dim, bias=False), "g_b_proj": linear(dim, width, bias=False)}
    kernel = config.integer("linear_conv_kernel_dim")
    return kimi_delta_attention(hidden, heads, dim, kernel, forget_gate=forget_gate, output_gate={**gate})


def layer(config: ModelConfig, attention_kind: object, indexed: object, feed_forward_kind: object) -> Module:
    hidden, streams = config.integer("hidden_size"), config.integer("hc_mult")
    linear_layer = attention_kind == "linear_attention"
    mixer = delta_attention(config) if linear_layer else sparse_attention(config, indexed)
    transform = moe(config) if feed_forward_kind == "sparse" else feed_forward(config)
    block = decoder_layer(hidden, mixer, transform, norms=PRE_NORM)
    connection = hyper_connection(hidden, streams, (2 + streams) * streams, HYPER_SCALES)
    return block.with_(children=(*block.children, ("attn_hc", connection), ("ffn_hc", connection)))


def build(config: ModelConfig) -> Module:
    kinds, indexed = config.layers("layer_types"), config.layers("indexer_types")
    if indexed.length != kinds.length:  # the last layer looks at the entry behind its own
        raise CannotBuild(f"indexer_types has {indexed.length} entries for {kinds.length} layers", ("indexer_types",))
    pattern = kinds.zip(indexed).zip(config.layers("mlp_layer_types"))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind[0], kind[1])))
