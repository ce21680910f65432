"""RWKV-4: time mixing with an exponentially decaying state, channel mixing; nothing grows with the length."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head
from neurarch_schemas.modules.layers import layer_norm, linear, token_embedding
from neurarch_schemas.modules.tree import Cache, Module, Tensor, children, concatenate, stack

MODEL_TYPES = ("rwkv",)


def mixes(hidden: int, *names: str) -> tuple[Tensor, ...]:
    """How much of the previous token each input channel takes."""
    return tuple(Tensor(f"time_mix_{name}", (1, 1, hidden)) for name in names)


def time_mixing(hidden: int, width: int) -> Module:
    """State: last token, numerator, denominator and running maximum; the width fits only where it is ``hidden``."""
    return Module(
        "TimeMixing",
        (
            Tensor("time_decay", (width,)),
            Tensor("time_first", (width,)),
            *mixes(hidden, "key", "value", "receptance"),
        ),
        children(
            key=linear(hidden, width, bias=False),
            value=linear(hidden, width, bias=False),
            receptance=linear(hidden, width, bias=False),
            output=linear(width, hidden, bias=False),
        ),
        part="linear attention",
        caches=(Cache("recurrent", constant=hidden + 3 * width),),
        width_in=hidden,
        width_out=hidden,
    )


def channel_mixing(hidden: int, intermediate: int) -> Module:
    """State: the last token."""
    return Module(
        "ChannelMixing",
        mixes(hidden, "key", "receptance"),
        children(
            key=linear(hidden, intermediate, bias=False),
            receptance=linear(hidden, hidden, bias=False),
            value=linear(intermediate, hidden, bias=False),
        ),
        part="feed-forward",
        caches=(Cache("recurrent", constant=hidden),),
        width_in=hidden,
        width_out=hidden,
    )


def block(config: ModelConfig, first: bool) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "Block",
        children=children(
            pre_ln=layer_norm(hidden) if first else None,
            ln1=layer_norm(hidden),
            ln2=layer_norm(hidden),
            attention=time_mixing(hidden, config.integer("attention_hidden_size", hidden)),
            feed_forward=channel_mixing(hidden, config.integer("intermediate_size", 4 * hidden)),
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    length = config.integer("num_hidden_layers")
    backbone = Module(
        "Model",
        children=children(
            embeddings=token_embedding(vocabulary, hidden),
            blocks=concatenate(
                stack(block(config, first=True), times=min(length, 1)),
                stack(block(config, first=False), times=length - 1),
            ),
            ln_out=layer_norm(hidden),
        ),
    )
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head != "ForCausalLM":
        raise unknown_head(config.architecture)
    tied_to = "rwkv.embeddings.weight" if config.flag("tie_word_embeddings") else None
    return Module(
        config.architecture, children=children(rwkv=backbone, head=lm_head(hidden, vocabulary, tied_to=tied_to))
    )
