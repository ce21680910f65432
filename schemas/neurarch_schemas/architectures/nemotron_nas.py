"""Llama-Nemotron (DeciLM), with the code that came with it: Llama whose blocks a search chose one by one.

``block_configs`` says for each layer how many heads share a key and how wide the feed-forward block is, or that either
is absent. The total of Llama-3.3-Nemotron-Super-49B equals the published 49,867,145,216.
"""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import rms_norm
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("nemotron-nas",)

SPECIAL = ("replace_with_linear", "window_length", "num_sink_tokens", "sparsify")
"""Choices that no published total confirms a reading of."""


def choice(block: JSONValue, kind: str, size: str) -> int | float | None:
    """The number that ``size`` gives for one part of a block; None where the part is absent."""
    entry = block.get(kind) if isinstance(block, Mapping) else None
    if not isinstance(entry, Mapping):
        raise CannotBuild(f"an entry of block_configs says nothing of its {kind}", ("block_configs",))
    if entry.get("no_op"):
        return None
    special = next((key for key in SPECIAL if entry.get(key)), None)
    if special is not None:
        raise CannotBuild(f"{special} of a block is not known", ("block_configs",))
    value = entry.get(size)
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        raise CannotBuild(f"{size} in block_configs must be a positive number", ("block_configs",))
    return value


def intermediate_size(multiplier: float, hidden: int) -> int:
    """Two thirds of ``multiplier`` times the width, rounded up to a multiple of 256 (a gate takes the last third)."""
    return -(-int(2 * multiplier * hidden / 3) // 256) * 256


def layer(config: ModelConfig, group: float | None, multiplier: float | None) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    if group is not None and heads % group:
        raise CannotBuild(f"{heads} attention heads are no multiple of n_heads_in_group {group}", ("block_configs",))
    mixer = None if group is None else attention(hidden, heads, int(heads // group), bias=config.flag("attention_bias"))
    inner = None if multiplier is None else intermediate_size(multiplier, hidden)
    return Module(
        "DecoderLayer",
        children=children(
            input_layernorm=None if mixer is None else rms_norm(hidden),
            self_attn=mixer,
            post_attention_layernorm=None if inner is None else rms_norm(hidden),
            mlp=None if inner is None else gated_mlp(hidden, inner, config.flag("mlp_bias")),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    blocks = [
        (choice(block, "attention", "n_heads_in_group"), choice(block, "ffn", "ffn_mult"))
        for block in config.items("block_configs")
    ]
    if len(blocks) != config.integer("num_hidden_layers"):
        raise CannotBuild("block_configs and num_hidden_layers disagree", ("block_configs", "num_hidden_layers"))
    return language_model(config, layers(LayerPattern.of(blocks), lambda kind: layer(config, *kind)))
