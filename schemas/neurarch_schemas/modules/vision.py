"""Blocks of vision encoders: patch embeddings, transformer layers in the layouts that towers share, mergers."""

from __future__ import annotations

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import head_problems
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, children, named


def height_and_width(config: ModelConfig, name: str) -> tuple[int, int]:
    """A size given as one number for both sides or as a pair."""
    values = config.integers(name)
    if len(values) != (2 if isinstance(config.get(name), list) else 1):
        raise CannotBuild(f"{name} must be a number or a pair", (name,))
    return values[0], values[-1]


def patch_count(config: ModelConfig, image: str = "image_size", patch: str = "patch_size") -> int:
    """Patches of a square image: (image // patch) squared."""
    side = config.integer(image) // config.integer(patch)
    return side * side


def vision_attention(
    hidden: int,
    heads: int,
    *,
    names: tuple[str, str, str, str] = ("q_proj", "k_proj", "v_proj", "out_proj"),
    bias: bool = True,
    key_bias: bool | None = None,
    out_bias: bool | None = None,
    position: str | None = "learned",
    extra: dict[str, Module | Stack | None] | None = None,
) -> Module:
    """Bidirectional attention whose four projections all are ``hidden`` wide, whether or not the heads divide it."""
    dim = hidden // heads
    query, key, value, out = names
    return Module(
        "Attention",
        children=named(
            {
                query: linear(hidden, hidden, bias),
                key: linear(hidden, hidden, bias if key_bias is None else key_bias),
                value: linear(hidden, hidden, bias),
                out: linear(hidden, hidden, bias if out_bias is None else out_bias),
                **(extra or {}),
            }
        ),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position=position),
        width_in=hidden,
        width_out=hidden,
        problems=head_problems(hidden, heads, heads, None),
    )


def clip_layer(
    hidden: int, heads: int, intermediate: int, *, bias: bool = True, out_bias: bool | None = None
) -> Module:
    """A pre-norm layer as CLIP names it: separate projections, two layer norms, a two-layer MLP."""
    return Module(
        "EncoderLayer",
        children=children(
            self_attn=vision_attention(hidden, heads, bias=bias, out_bias=out_bias),
            layer_norm1=layer_norm(hidden),
            mlp=mlp(hidden, intermediate),
            layer_norm2=layer_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def fused_vision_attention(
    hidden: int,
    heads: int,
    *,
    bias: bool = True,
    out_bias: bool | None = None,
    head_dim: int | None = None,
    names: tuple[str, str] = ("qkv", "proj"),
    position: str | None = "rope",
    extra: dict[str, Module | Stack | None] | None = None,
) -> Module:
    """Bidirectional attention with queries, keys and values out of one matrix."""
    dim = hidden // heads if head_dim is None else head_dim
    fused, out = names
    return Module(
        "Attention",
        children=named(
            {
                fused: linear(hidden, 3 * heads * dim if head_dim is not None else 3 * hidden, bias),
                out: linear(
                    heads * dim if head_dim is not None else hidden, hidden, bias if out_bias is None else out_bias
                ),
                **(extra or {}),
            }
        ),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position=position),
        width_in=hidden,
        width_out=hidden,
        problems=head_problems(hidden, heads, heads, head_dim),
    )


def torch_attention(hidden: int, heads: int) -> Module:
    """torch.nn.MultiheadAttention: the three input projections in one parameter."""
    dim = hidden // heads
    return Module(
        "MultiheadAttention",
        (Tensor("in_proj_weight", (3 * hidden, hidden)), Tensor("in_proj_bias", (3 * hidden,))),
        children(out_proj=linear(hidden, hidden)),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False),
        multiply_accumulates=3 * hidden * hidden,
        width_in=hidden,
        width_out=hidden,
        problems=head_problems(hidden, heads, heads, None),
    )


def sequential(*modules: Module | None) -> Module:
    """torch.nn.Sequential; None takes a place without tensors (an activation)."""
    return Module(
        "Sequential", children=named({str(index): module for index, module in enumerate(modules) if module is not None})
    )


def vit_attention(
    hidden: int,
    heads: int,
    *,
    bias: bool = True,
    key_bias: bool | None = None,
    value_bias: bool | None = None,
    out_bias: bool = True,
    head_dim: int | None = None,
    width: int | None = None,
    names: tuple[str, str, str, str] = ("q_proj", "k_proj", "v_proj", "o_proj"),
    position: str | None = "learned",
    tensors: tuple[Tensor, ...] = (),
    extra: dict[str, Module | Stack | None] | None = None,
) -> Module:
    """ViT's attention: projections of ``heads * head_dim`` (default ``hidden // heads``), ``bias`` on the inputs.

    ``width`` is that of the projections where the class fixes it, whether or not the heads divide it.
    """
    dim = hidden // heads if head_dim is None else head_dim
    width = heads * dim if width is None else width
    query, key, value, out = names
    projections: dict[str, Module | Stack | None] = {
        query: linear(hidden, width, bias),
        key: linear(hidden, width, bias if key_bias is None else key_bias),
        value: linear(hidden, width, bias if value_bias is None else value_bias),
        out: linear(width, hidden, out_bias),
        **(extra or {}),
    }
    return Module(
        "Attention",
        tensors,
        named(projections),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position=position),
        width_in=hidden,
        width_out=hidden,
        problems=head_problems(hidden, heads, heads, head_dim),
    )


def patch_grid(config: ModelConfig, image: str = "image_size", patch: str = "patch_size") -> tuple[int, int]:
    """Patches in height and width of an image that need not be square."""
    height, width = height_and_width(config, image)
    patch_height, patch_width = height_and_width(config, patch)
    return height // patch_height, width // patch_width
