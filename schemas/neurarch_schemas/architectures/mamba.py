"""Mamba, Mamba 2 and Falcon Mamba: a stack of state-space mixers without attention or feed-forward.

Falcon Mamba's inner norms have no weights to store.
"""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import rms_norm, token_embedding
from neurarch_schemas.modules.state_space import mamba2_mixer, mamba_mixer
from neurarch_schemas.modules.tree import Module, children, stack

MODEL_TYPES = ("mamba", "falcon_mamba", "mamba2")


def time_step_rank(config: ModelConfig, key: str) -> int:
    """A number, or "auto": a sixteenth of the hidden size, rounded up."""
    if config.get(key) in (None, "auto"):
        return -(-config.integer("hidden_size") // 16)
    return config.integer(key)


def inner_width(config: ModelConfig) -> int:
    """``expand`` times the hidden size; Mamba 1 configs may state it outright as ``intermediate_size``."""
    if config.model_type != "mamba2" and config.is_set("intermediate_size"):
        return config.integer("intermediate_size")
    return int(config.number("expand") * config.integer("hidden_size"))


def mixer(config: ModelConfig) -> Module:
    hidden, state = config.integer("hidden_size"), config.integer("state_size")
    bias, conv_bias = config.flag("use_bias"), config.flag("use_conv_bias")
    kernel = config.integer("conv_kernel")
    if config.model_type == "mamba2":
        return mamba2_mixer(
            hidden,
            inner_width(config),
            config.integer("num_heads"),
            config.integer("head_dim"),
            config.integer("n_groups"),
            state,
            kernel,
            bias=bias,
            conv_bias=conv_bias,
        )
    rank = time_step_rank(config, "time_step_rank")
    return mamba_mixer(hidden, inner_width(config), state, kernel, rank, bias=bias, conv_bias=conv_bias)


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    block = Module("Block", children=children(norm=rms_norm(hidden), mixer=mixer(config)))
    backbone = Module(
        "Model",
        children=children(
            embeddings=token_embedding(config.integer("vocab_size"), hidden),
            layers=stack(block, times=config.integer("num_hidden_layers")),
            norm_f=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden, prefix="backbone", embedding="embeddings.weight")
