"""Blocks of encoders and encoder-decoders: attention without a cache, cross attention, whole layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from neurarch_schemas.modules.attention import head_problems, kv_caches
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Stack, named

BERT_PROJECTIONS = ("self.query", "self.key", "self.value", "output.dense")
BART_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")

Role = Literal["encoder", "decoder", "cross"]
"""What an attention block is for: bidirectional without cache, causal with cache, or over an encoder's output."""


def encoder_attention(
    hidden: int,
    heads: int,
    *,
    head_dim: int | None = None,
    names: tuple[str, str, str, str] = BART_PROJECTIONS,
    bias: bool = True,
    key_bias: bool | None = None,
    value_bias: bool | None = None,
    out_bias: bool | None = None,
    role: Role = "encoder",
    source_hidden: int | None = None,
    source_length: int | None = None,
    out_inputs: int | None = None,
    cached: bool = True,
    position: str | None = None,
    extra: Mapping[str, Module | Stack | None] | None = None,
    type: str = "Attention",  # noqa: A002  # the field is called type everywhere
) -> Module:
    """Multi-head attention of ``heads * head_dim`` (default ``hidden // heads``) over a stream of ``hidden``.

    ``role`` "cross" reads keys and values from a stream of ``source_hidden`` (default ``hidden``) and caches them for
    ``source_length`` tokens; "decoder" caches its own. ``out_inputs`` is the input width of the output projection
    where the class fixes it to the hidden size. ``extra`` holds further children (norms, relative biases).
    """
    dim = hidden // heads if head_dim is None else head_dim
    width = heads * dim
    source = hidden if source_hidden is None else source_hidden
    query, key, value, out = names
    kind: Literal["full", "cross", "encoder"] = {"encoder": "encoder", "decoder": "full", "cross": "cross"}[role]  # type: ignore[assignment]  # literal keys
    shape = AttentionShape(heads, heads, dim, dim, kind, causal=role == "decoder", position=position)
    caches: tuple[Cache, ...] = ()
    if cached and role == "decoder":
        caches = kv_caches(shape)
    elif cached and role == "cross":
        caches = (Cache("cross", per_token=2 * width, source_length=source_length),)
    return Module(
        type,
        children=named(
            {
                query: linear(hidden, width, bias),
                key: linear(source, width, bias if key_bias is None else key_bias),
                value: linear(source, width, bias if value_bias is None else value_bias),
                out: linear(
                    width if out_inputs is None else out_inputs, hidden, bias if out_bias is None else out_bias
                ),
                **(extra or {}),
            }
        ),
        part="attention",
        attention=shape,
        caches=caches,
        width_in=hidden,
        width_out=hidden,
        problems=head_problems(hidden, heads, heads, head_dim),
    )


def bert_attention(
    hidden: int,
    heads: int,
    *,
    bias: bool = True,
    role: Role = "encoder",
    norm: str | None = "output.LayerNorm",
    position: str | None = "learned",
    extra: Mapping[str, Module | Stack | None] | None = None,
) -> Module:
    """BERT's attention: query, key, value under ``self``, output projection and (post-)norm under ``output``."""
    return encoder_attention(
        hidden,
        heads,
        names=BERT_PROJECTIONS,
        bias=bias,
        out_bias=True,
        role=role,
        out_inputs=hidden,
        position=position,
        extra={**(extra or {}), **({norm: layer_norm(hidden)} if norm else {})},
    )


def bert_feed_forward(hidden: int, intermediate: int, *, norm: str | None = "output.LayerNorm") -> dict[str, Module]:
    """BERT's feed-forward: ``intermediate.dense`` up, ``output.dense`` down, with the norm beside one of them."""
    children = {
        "intermediate.dense": linear(hidden, intermediate).with_(part="feed-forward"),
        "output.dense": linear(intermediate, hidden).with_(part="feed-forward"),
    }
    if norm:
        children[norm] = layer_norm(hidden)
    return children


def bert_layer(
    hidden: int,
    heads: int,
    intermediate: int,
    *,
    bias: bool = True,
    decoder: bool = False,
    cross: bool = False,
    position: str | None = "learned",
    attention_norm: str | None = "output.LayerNorm",
    feed_forward_norm: str | None = "output.LayerNorm",
    attention_extra: Mapping[str, Module | Stack | None] | None = None,
    extra: Mapping[str, Module | Stack | None] | None = None,
) -> Module:
    """One layer of the original Transformer encoder as BERT names it (arXiv:1810.04805); with ``decoder`` it caches."""

    def block(role: Role) -> Module:
        return bert_attention(
            hidden, heads, bias=bias, role=role, norm=attention_norm, position=position, extra=attention_extra
        )

    return Module(
        "EncoderLayer",
        children=named(
            {
                "attention": block("decoder" if decoder else "encoder"),
                "crossattention": block("cross") if cross else None,
                **bert_feed_forward(hidden, intermediate, norm=feed_forward_norm),
                **(extra or {}),
            }
        ),
        width_in=hidden,
        width_out=hidden,
    )


def bert_embeddings(
    vocabulary: int,
    width: int,
    *,
    positions: int | None,
    types: int | None,
    norm: bool = True,
    norm_width: int | None = None,
    tied_to: str | None = None,
    extra: Mapping[str, Module | Stack | None] | None = None,
) -> Module:
    """Token, position and token-type tables and their norm; None for a table that is not there.

    ``tied_to``: the head's matrix, where the class registers its head first, so that the table is the second name.
    """
    return Module(
        "Embeddings",
        children=named(
            {
                "word_embeddings": embedding(vocabulary, width, lookup=True, tied_to=tied_to),
                "position_embeddings": None if positions is None else position_embedding(positions, width),
                "token_type_embeddings": None if types is None else embedding(types, width),
                "LayerNorm": layer_norm(norm_width or width) if norm else None,
                **(extra or {}),
            }
        ),
        part="embedding",
        width_out=width,
    )


def bart_encoder_layer(
    hidden: int,
    heads: int,
    intermediate: int,
    *,
    attention: Module | None = None,
    position: str | None = "learned",
    extra: Mapping[str, Module | Stack | None] | None = None,
) -> Module:
    """An encoder layer as BART names it (arXiv:1910.13461); ``attention`` where it is not plain."""
    return Module(
        "EncoderLayer",
        children=named(
            {
                "self_attn": attention or encoder_attention(hidden, heads, position=position),
                "self_attn_layer_norm": layer_norm(hidden),
                **(extra or {}),
                "fc1": linear(hidden, intermediate, part="feed-forward"),
                "fc2": linear(intermediate, hidden, part="feed-forward"),
                "final_layer_norm": layer_norm(hidden),
            }
        ),
        width_in=hidden,
        width_out=hidden,
    )


def bart_decoder_layer(
    hidden: int,
    heads: int,
    intermediate: int,
    *,
    bias: bool = True,
    key_bias: bool | None = None,
    position: str | None = "learned",
    cross: bool = True,
    source_hidden: int | None = None,
    source_length: int | None = None,
    source_cached: bool = True,
) -> Module:
    """A decoder layer as BART names it: causal self-attention, attention over the encoder's output, feed-forward.

    ``source_cached`` is False for a decoder used alone: it has the weights of its cross attention, but no source.
    """
    source = encoder_attention(
        hidden,
        heads,
        bias=bias,
        key_bias=key_bias,
        role="cross",
        source_hidden=source_hidden,
        source_length=source_length,
        cached=source_cached,
    )
    own = encoder_attention(hidden, heads, bias=bias, key_bias=key_bias, role="decoder", position=position)
    return Module(
        "DecoderLayer",
        children=named(
            {
                "self_attn": own,
                "self_attn_layer_norm": layer_norm(hidden),
                "encoder_attn": source if cross else None,
                "encoder_attn_layer_norm": layer_norm(hidden) if cross else None,
                "fc1": linear(hidden, intermediate, part="feed-forward"),
                "fc2": linear(intermediate, hidden, part="feed-forward"),
                "final_layer_norm": layer_norm(hidden),
            }
        ),
        width_in=hidden,
        width_out=hidden,
    )
