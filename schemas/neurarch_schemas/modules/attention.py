"""Attention blocks: their projections, what they cache, and the geometry labels are derived from."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Selection, ShapeProblem, Stack, named


def kv_caches(shape: AttentionShape, *, transformers_window: int | None = None) -> tuple[Cache, ...]:
    """Keys and values of one layer: ``kv_heads * (qk_dim + v_dim)`` scalars a position."""
    kind: Literal["full", "sliding", "chunked"] = "full"
    if shape.window is not None:
        kind = "chunked" if shape.kind == "chunked" else "sliding"
    scalars = shape.kv_heads * (shape.qk_dim + shape.v_dim)
    return (Cache(kind, per_token=scalars, window=shape.window, transformers_window=transformers_window),)


def head_problems(hidden: int, heads: int, kv_heads: int, head_dim: int | None) -> tuple[ShapeProblem, ...]:
    """What would stop the forward pass: heads that do not divide the hidden size, KV heads that do not divide heads."""
    problems: list[ShapeProblem] = []
    if head_dim is None and heads and hidden % heads:
        message = f"hidden size {hidden} is not a multiple of {heads} attention heads"
        problems.append(ShapeProblem(message, hidden, heads, ("hidden_size", "num_attention_heads")))
    if kv_heads and heads % kv_heads:
        message = f"{heads} attention heads are not a multiple of {kv_heads} KV heads"
        problems.append(ShapeProblem(message, heads, kv_heads, ("num_attention_heads", "num_key_value_heads")))
    return tuple(problems)


def width_problem(left: int, right: int) -> tuple[ShapeProblem, ...]:
    """The heads' joint width must equal that of the matrix behind them, where a family fixes both."""
    if left == right:
        return ()
    keys = ("num_attention_heads", "head_dim", "hidden_size")
    return (ShapeProblem(f"the heads give {left} values, the output projection takes {right}", left, right, keys),)


def attention(
    hidden: int,
    heads: int,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    *,
    bias: bool = False,
    key_bias: bool | None = None,
    out_bias: bool | None = None,
    names: tuple[str, str, str, str] = ("q_proj", "k_proj", "v_proj", "o_proj"),
    extra: dict[str, Module | Stack | None] | None = None,
    window: int | None = None,
    kind: Literal["full", "sliding", "chunked", "sparse", "cross", "encoder"] = "full",
    position: str | None = "rope",
    qk_norm: bool = False,
    cached: bool = True,
    type: str = "Attention",  # noqa: A002  # the field is called type everywhere
    out_width: int | None = None,
    v_dim: int | None = None,
) -> Module:
    """Query, key, value and output projections with ``heads`` query heads over ``kv_heads`` key/value heads.

    ``hidden`` is the width of the residual stream; ``head_dim`` defaults to hidden // heads; ``bias`` is that of the
    query, key and value projections, ``out_bias`` (default: the same) that of the output. ``extra`` holds further
    children (QK norms, sinks). ``cached`` is False in encoders.
    """
    kv_heads = heads if kv_heads is None else kv_heads
    dim = hidden // heads if head_dim is None else head_dim
    values = dim if v_dim is None else v_dim
    query, key, value, out = names
    if window is not None and kind == "full":
        kind = "sliding"
    shape = AttentionShape(heads, kv_heads, dim, values, kind, window, kind != "encoder", qk_norm, position)
    return Module(
        type,
        children=named(
            {
                query: linear(hidden, heads * dim, bias),
                key: linear(hidden, kv_heads * dim, bias if key_bias is None else key_bias),
                value: linear(hidden, kv_heads * values, bias),
                out: linear(heads * values, out_width or hidden, bias if out_bias is None else out_bias),
                **(extra or {}),
            }
        ),
        part="attention",
        attention=shape,
        caches=kv_caches(shape) if cached else (),
        width_in=hidden,
        width_out=out_width or hidden,
        problems=head_problems(hidden, heads, kv_heads, head_dim),
    )


def attention_block(
    children: dict[str, Module | Stack | None],
    shape: AttentionShape,
    *,
    hidden: int,
    caches: tuple[Cache, ...] | None = None,
    type: str = "Attention",  # noqa: A002  # the field is called type everywhere
) -> Module:
    """Attention with projections of any other layout (fused QKV, latent); ``caches`` defaults to keys and values."""
    return Module(
        type,
        children=named(children),
        part="attention",
        attention=shape,
        caches=kv_caches(shape) if caches is None else caches,
        width_in=hidden,
        width_out=hidden,
        problems=head_problems(hidden, shape.heads, shape.kv_heads, shape.qk_dim),
    )


def latent_cache(
    kv_lora_rank: int, rope_dim: int, heads: int, nope_dim: int, v_dim: int, window: int | None = None
) -> Cache:
    """Multi-head latent attention caches the latent and one shared rotary key: kv_lora_rank + qk_rope_head_dim scalars.

    Source: DeepSeek-V2 (arXiv:2405.04434), section 2.1.
    """
    expanded = heads * (nope_dim + rope_dim + v_dim)
    return Cache("latent", per_token=kv_lora_rank + rope_dim, expanded_per_token=expanded, window=window)


def fused_attention(
    hidden: int,
    heads: int,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    *,
    bias: bool = False,
    out_bias: bool | None = None,
    names: tuple[str, str] = ("qkv_proj", "o_proj"),
    window: int | None = None,
    position: str | None = "rope",
    extra: dict[str, Module | Stack | None] | None = None,
) -> Module:
    """As ``attention``, with queries, keys and values out of one matrix of (heads + 2 kv_heads) * head_dim rows."""
    kv_heads = heads if kv_heads is None else kv_heads
    dim = hidden // heads if head_dim is None else head_dim
    shape = AttentionShape(
        heads, kv_heads, dim, dim, "full" if window is None else "sliding", window, position=position
    )
    fused, out = names
    block = attention_block(
        {
            fused: linear(hidden, (heads + 2 * kv_heads) * dim, bias),
            out: linear(heads * dim, hidden, bias if out_bias is None else out_bias),
            **(extra or {}),
        },
        shape,
        hidden=hidden,
    )
    return block.with_(problems=head_problems(hidden, heads, kv_heads, head_dim))


def selecting(block: Module, selection: Selection) -> Module:
    """An attention block whose queries attend to some keys only."""
    assert block.attention is not None
    return block.with_(attention=block.attention._replace(selection=selection))


def latent_attention(
    hidden: int,
    heads: int,
    *,
    q_lora_rank: int | None,
    kv_lora_rank: int,
    nope_dim: int,
    rope_dim: int,
    v_dim: int,
    bias: bool = False,
    extra: dict[str, Module | Stack | None] | None = None,
    caches: tuple[Cache, ...] = (),
    window: int | None = None,
    position: str = "rope",
) -> Module:
    """Multi-head latent attention: keys and values come from one latent of ``kv_lora_rank``, queries optionally too.

    ``bias`` is that of the projections that touch the residual stream. ``caches`` are kept beside the latent.
    Source: DeepSeek-V2 (arXiv:2405.04434), section 2.1.
    """
    qk_dim = nope_dim + rope_dim
    shape = AttentionShape(
        heads, heads, qk_dim, v_dim, "latent", window, latent_dim=kv_lora_rank + rope_dim, position=position
    )
    queries: dict[str, Module | Stack | None] = {"q_proj": linear(hidden, heads * qk_dim, bias=False)}
    if q_lora_rank is not None:
        queries = {
            "q_a_proj": linear(hidden, q_lora_rank, bias),
            "q_a_layernorm": rms_norm(q_lora_rank),
            "q_b_proj": linear(q_lora_rank, heads * qk_dim, bias=False),
        }
    return attention_block(
        {
            **queries,
            "kv_a_proj_with_mqa": linear(hidden, kv_lora_rank + rope_dim, bias),
            "kv_a_layernorm": rms_norm(kv_lora_rank),
            "kv_b_proj": linear(kv_lora_rank, heads * (nope_dim + v_dim), bias=False),
            "o_proj": linear(heads * v_dim, hidden, bias),
            **(extra or {}),
        },
        shape,
        hidden=hidden,
        caches=(latent_cache(kv_lora_rank, rope_dim, heads, nope_dim, v_dim, window), *caches),
        type="LatentAttention",
    )
