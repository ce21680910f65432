"""What most decoder-only language models share: rotary grouped-query attention, norm placement, the backbone."""

from __future__ import annotations

from typing import Any, Literal

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named

PRE_NORM = ("input_layernorm", "post_attention_layernorm")
POST_NORM = ("post_attention_layernorm", "post_feedforward_layernorm")
SANDWICH_NORM = (*PRE_NORM, "pre_feedforward_layernorm", "post_feedforward_layernorm")


def head_dim(config: ModelConfig) -> int:
    """``head_dim`` where it is given (also as a key the class does not declare), else hidden size over heads."""
    given = config.optional_integer("head_dim")
    return config.integer("hidden_size") // config.integer("num_attention_heads") if given is None else given


def self_attention(
    config: ModelConfig,
    window: int | None = None,
    *,
    bias: bool = False,
    qk_norm: Literal["head", "flat"] | None = None,
    norm_names: tuple[str, str] = ("q_norm", "k_norm"),
    divided: bool = False,
    **more: Any,
) -> Module:
    """Rotary grouped-query attention sized by the usual keys.

    ``qk_norm``: an RMSNorm of queries and keys over one head ("head"), or over all heads at once ("flat").
    ``divided``: the class divides hidden size by heads and never reads ``head_dim``.
    """
    heads = config.integer("num_attention_heads")
    kv_heads = config.integer("num_key_value_heads", heads)
    dim = config.integer("hidden_size") // heads if divided else head_dim(config)
    extra: dict[str, Module | Stack | None] = dict(more.pop("extra", None) or {})
    if qk_norm is not None:
        query, key = norm_names
        extra[query] = rms_norm(dim if qk_norm == "head" else heads * dim)
        extra[key] = rms_norm(dim if qk_norm == "head" else kv_heads * dim)
    return attention(
        config.integer("hidden_size"),
        heads,
        kv_heads,
        None if divided else config.optional_integer("head_dim"),
        bias=bias,
        window=window,
        qk_norm=qk_norm is not None,
        extra=extra,
        **more,
    )


def feed_forward(config: ModelConfig, size: str = "intermediate_size", *, bias: bool = False) -> Module:
    """The gated feed-forward block whose inner width is the setting ``size``."""
    return gated_mlp(config.integer("hidden_size"), config.integer(size), bias)


def decoder_layer(
    hidden: int,
    mixer: Module,
    transform: Module,
    *,
    norms: tuple[str, ...] = PRE_NORM,
    norm: Module | None = None,
    names: tuple[str, str] = ("self_attn", "mlp"),
) -> Module:
    """Attention (``mixer``), feed-forward or experts (``transform``), and equal norms (RMSNorm by default)."""
    normalization = rms_norm(hidden) if norm is None else norm
    parts: dict[str, Module | Stack | None] = {names[0]: mixer, names[1]: transform}
    parts.update(dict.fromkeys(norms, normalization))
    return Module("DecoderLayer", children=named(parts), width_in=hidden, width_out=hidden)


def language_model(
    config: ModelConfig,
    blocks: Stack,
    *,
    norm: Module | None = None,
    hidden: int | None = None,
    names: tuple[str, str, str] = ("embed_tokens", "layers", "norm"),
    before: dict[str, Module | Stack | None] | None = None,
    after: dict[str, Module | Stack | None] | None = None,
    tensors: tuple[Tensor, ...] = (),
    rows: int | None = None,
    **head: Any,
) -> Module:
    """Token embedding, ``blocks`` and a final norm (RMSNorm by default), with the head that the class name asks for.

    ``before`` and ``after`` are further children in front of the layers and behind the final norm, ``tensors`` the
    backbone's own, ``rows`` the size of the token table where it is not ``vocab_size``; ``head`` goes to
    ``with_language_head``.
    """
    width = config.integer("hidden_size") if hidden is None else hidden
    embedding, stack, final = names
    parts: dict[str, Module | Stack | None] = {
        embedding: token_embedding(config.integer("vocab_size") if rows is None else rows, width),
        **(before or {}),
        stack: blocks,
        final: rms_norm(width) if norm is None else norm,
        **(after or {}),
    }
    backbone = Module("Model", tensors, named(parts), width_out=width)
    return with_language_head(config, backbone, hidden=width, embedding=f"{embedding}.weight", **head)


def from_layer(first: int, length: int) -> LayerPattern[bool]:
    """False for the layers before ``first``, True for the rest."""
    first = max(0, min(first, length))
    return LayerPattern.constant(False, first) + LayerPattern.constant(True, length - first)
