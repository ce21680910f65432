"""Attention geometry read from a config, under whatever names the family uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.facts.places import integer
from neurarch_rules.facts.sources import reads

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig

HIDDEN = ("hidden_size", "d_model", "n_embd", "dim", "embed_dim")
HEADS = ("num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads")
KV_HEADS = ("num_key_value_heads", "n_head_kv", "num_kv_heads", "n_kv_heads", "multi_query_group_num")
LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length")


class Named(NamedTuple):
    """A value with the key it was read from."""

    key: str
    value: int


def named(config: ModelConfig, keys: tuple[str, ...]) -> Named | None:
    """The first of several keys that holds a whole number; a composite class must read it, not only carry it along."""
    known = config.whole_numbers
    for key in keys:
        if key in known and (not config.nested or reads(config, key)):
            return Named(key, known[key])
    return None


def hidden_size(config: ModelConfig) -> Named | None:
    return named(config, HIDDEN)


def heads(config: ModelConfig) -> Named | None:
    return named(config, HEADS)


def kv_heads(config: ModelConfig) -> Named | None:
    return named(config, KV_HEADS)


def layers(config: ModelConfig) -> Named | None:
    return named(config, LAYERS)


def positions(config: ModelConfig) -> Named | None:
    return named(config, POSITIONS)


def head_dim(config: ModelConfig) -> int | None:
    """The size of one query head; None where it is not whole or not known."""
    width, count = hidden_size(config), heads(config)
    is_whole = width is not None and count is not None and count.value > 0 and width.value % count.value == 0
    for key in ("head_dim", "qk_head_dim"):
        setting = config.setting(key)
        if setting is not None and (setting.origin != "derived" or is_whole) and integer(config, key) is not None:
            return integer(config, key)
    return width.value // count.value if is_whole and width is not None and count is not None else None


def is_latent(config: ModelConfig) -> bool:
    """Multi-head latent attention: head sizes are given part by part and KV heads mean nothing."""
    return integer(config, "kv_lora_rank") is not None and integer(config, "qk_rope_head_dim") is not None
