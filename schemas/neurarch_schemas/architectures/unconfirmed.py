"""Models that bring their own code, of which no published total confirms our reading: refused, but for their caches.

What a layer keeps follows from the documented keys alone, so a KV cache can be given where parameters cannot.
"""

from __future__ import annotations

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block, latent_cache
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, concatenate, stack

MODEL_TYPES = ("chatglm", "internlm", "kimi_k2", "minicpm", "nemotron-nas", "phi3_v", "phi3small", "xverse")


def layer(hidden: int, shape: AttentionShape) -> Module:
    return attention_block({}, shape, hidden=hidden)


def grouped(config: ModelConfig) -> Stack:
    """Ordinary keys and values of ``num_key_value_heads`` heads in every layer."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads = config.integer("num_key_value_heads", heads)
    window = config.optional_integer("sliding_window")
    dim = hidden // heads
    kind = AttentionShape(heads, kv_heads, dim, dim, "full" if window is None else "sliding", window, position="rope")
    return uniform(layer(hidden, kind), config.integer("num_hidden_layers"))


def chatglm(config: ModelConfig) -> Stack:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads = config.integer("multi_query_group_num") if config.flag("multi_query_attention") else heads
    dim = config.integer("kv_channels", hidden // heads)
    shape = AttentionShape(heads, kv_heads, dim, dim, position="partial rope")
    return uniform(layer(hidden, shape), config.integer("num_layers"))


def kimi_k2(config: ModelConfig) -> Stack:
    heads, rank, rope, nope, value = (
        config.integer(key)
        for key in ("num_attention_heads", "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
    )
    shape = AttentionShape(heads, heads, nope + rope, value, "latent", position="rope", latent_dim=rank + rope)
    caches = (latent_cache(rank, rope, heads, nope, value),)
    block = attention_block({}, shape, hidden=config.integer("hidden_size"), caches=caches)
    return uniform(block, config.integer("num_hidden_layers"))


def nemotron_nas(config: ModelConfig) -> Stack | None:
    """``block_configs`` gives each layer's attention, or none; None where a layer has a kind not known here."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = hidden // heads
    stacks: list[Stack] = []
    for block in config.items("block_configs"):
        attention = block.get("attention") if isinstance(block, dict) else None
        if not isinstance(attention, dict):
            return None
        if attention.get("no_op") or attention.get("replace_with_linear"):
            continue
        group = attention.get("n_heads_in_group")
        special = (attention.get(key) for key in ("window_length", "num_sink_tokens", "sparsify"))
        if not isinstance(group, int) or not group or any(special):
            return None
        shape = AttentionShape(heads, heads // group, dim, dim, position="rope")
        stacks.append(stack(layer(hidden, shape)))
    return concatenate(*stacks)


def caching(config: ModelConfig) -> Module | None:
    kind = config.model_type
    if kind == "chatglm":
        blocks: Stack | None = chatglm(config)
    elif kind == "kimi_k2":
        blocks = kimi_k2(config)
    elif kind == "nemotron-nas":
        blocks = nemotron_nas(config)
    elif kind == "minicpm" and config.is_set("sparse_config"):
        blocks = None
    else:
        blocks = grouped(config)
    return None if blocks is None else Module("Layers", children=(("layers", blocks),))


def build(config: ModelConfig) -> Module:
    reason = f"{config.model_type} models bring their own code, and no published total confirms a reading of it"
    try:
        layers = caching(config)
    except CannotBuild:
        layers = None
    raise CannotBuild(reason, ("model_type",), layers)
