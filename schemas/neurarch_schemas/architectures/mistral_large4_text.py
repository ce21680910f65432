"""Mistral Large 4 (text): latent attention with an indexer in each layer, positions in three layers out of four.

``no_rope_layers`` is 1 where a layer uses RoPE; ``kv_source_layers`` names the layer whose latent each layer reads.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model
from neurarch_schemas.architectures.deepseek import chosen_keys, moe
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block, latent_cache, selecting
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Tensor, children

MODEL_TYPES = ("mistral_large4_text",)


def softmax_scaling(heads: int) -> Module:
    """Scale and offset of the logarithm of the position, learned for each head."""
    return Module("SoftmaxScaling", (Tensor("scale", (heads,)), Tensor("bias", (heads,))))


def indexer(config: ModelConfig) -> Module:
    hidden, heads, dim = (config.integer(key) for key in ("hidden_size", "index_n_heads", "index_head_dim"))
    return Module(
        "Indexer",
        children=children(
            wq_b=linear(hidden, heads * dim, bias=False),
            wk=linear(hidden, dim, bias=False),
            k_norm=layer_norm(dim),
            weights_proj=linear(hidden, heads, bias=False),
            q_input_norm=layer_norm(hidden),
            softmax_scaling=softmax_scaling(heads),
        ),
        caches=(Cache("index", per_token=dim),),
    )


def self_attention(config: ModelConfig, rotary: bool, shared: bool, indexed: bool) -> Module:
    hidden, heads, rank = (config.integer(key) for key in ("hidden_size", "num_attention_heads", "kv_lora_rank"))
    v_dim, bias = config.integer("v_head_dim"), config.flag("attention_bias")
    qk_dim = config.integer("qk_nope_head_dim") + config.integer("qk_rope_head_dim")
    rope = config.integer("qk_rope_head_dim") if rotary else 0
    latent = latent_cache(rank, rope, heads, qk_dim - rope, v_dim)
    block = attention_block(
        {
            "kv_a_proj_with_mqa": None if shared else linear(hidden, rank + rope, bias),
            "kv_a_layernorm": None if shared else rms_norm(rank),
            "kv_b_proj": linear(rank, heads * (qk_dim - rope + v_dim), bias=False),
            "o_proj": linear(heads * v_dim, hidden, bias),
            "indexer": indexer(config) if indexed else None,
            "q_proj": linear(hidden, heads * qk_dim, bias=False),
            "softmax_scaling": softmax_scaling(heads),
        },
        AttentionShape(
            heads, heads, qk_dim, v_dim, "latent", position="rope" if rotary else "none", latent_dim=rank + rope
        ),
        hidden=hidden,
        caches=() if shared else (latent,),
        type="LatentAttention",
    )
    return selecting(block, chosen_keys(config, indexed))


def layer(config: ModelConfig, rotary: bool, shared: bool, indexed: bool, sparse: bool) -> Module:
    transform = moe(config) if sparse else feed_forward(config)
    return decoder_layer(config.integer("hidden_size"), self_attention(config, rotary, shared, indexed), transform)


def shared_layers(config: ModelConfig) -> LayerPattern[bool]:
    """True for layers that read another layer's latent; a layer that later ones read from has its own."""
    if not config.is_set("kv_source_layers"):
        return LayerPattern.constant(False, config.integer("num_hidden_layers"))
    sources = config.integers("kv_source_layers")
    last_use = {source: index for index, source in enumerate(sources)}
    return LayerPattern.of(source != index and last_use.get(index, -1) <= index for index, source in enumerate(sources))


def rotated(config: ModelConfig) -> int:
    """How much of each head rotates: stretched RoPE turns ``partial_rotary_factor`` of it, plain RoPE all."""
    width, block = config.integer("qk_rope_head_dim"), config.get("rope_parameters")
    if not isinstance(block, dict) or block.get("rope_type", "default") == "default":
        return width
    share = block.get("partial_rotary_factor", 1.0)
    if not isinstance(share, int | float):
        raise CannotBuild("partial_rotary_factor must be a number", ("rope_parameters",))
    return int(width * share)


def build(config: ModelConfig) -> Module:
    rotary = config.layers("no_rope_layers").map(bool)
    indexed = config.layers("indexer_types").map(lambda kind: kind != "shared")
    sparse = config.layers("mlp_layer_types").map(lambda kind: kind == "sparse")
    shared = shared_layers(config)
    if config.is_set("kv_source_layers") and len(shared) != config.integer("num_hidden_layers"):
        raise CannotBuild("kv_source_layers does not name one layer for each", ("kv_source_layers",))
    pattern = rotary.zip(shared).zip(indexed.zip(sparse))
    # The rotary frequencies are scaled by learned exponents, one a pair of dimensions.
    alpha = Tensor("alpha", (-(-rotated(config) // 2),))
    return language_model(
        config,
        layers(pattern, lambda kind: layer(config, *kind[0], *kind[1])),
        after={"rotary_emb": Module("RotaryEmbedding", (alpha,), part="position")},
    )
