"""The image encoder of Qwen-VL: a large vision transformer and a resampler of 256 learned queries.

Its sizes stand in an object ``visual`` that is no config of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children
from neurarch_schemas.modules.vision import torch_attention

QUERIES, POSITIONS = 256, 256
"""The code's own: queries of the resampler, and patches the learned table holds, whatever the image size."""


def size(settings: Mapping[str, JSONValue], name: str) -> int:
    value = settings.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise CannotBuild(f"visual.{name} must be a positive whole number", ("visual",))
    return value


def block(width: int, heads: int, inner: int) -> Module:
    dim = width // heads
    attention = Module(
        "Attention",
        children=children(in_proj=linear(width, 3 * width), out_proj=linear(width, width)),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="learned"),
    )
    return Module(
        "EncoderLayer",
        children=children(
            ln_1=layer_norm(width),
            ln_2=layer_norm(width),
            attn=attention,
            mlp=Module("MLP", children=children(c_fc=linear(width, inner), c_proj=linear(inner, width))),
        ),
    )


def image_encoder(settings: Mapping[str, JSONValue]) -> Module:
    width, output, patch = (size(settings, name) for name in ("width", "output_dim", "patch_size"))
    ratio = settings.get("mlp_ratio")
    if not isinstance(ratio, int | float) or isinstance(ratio, bool):
        raise CannotBuild("visual.mlp_ratio must be a number", ("visual",))
    layers = uniform(block(width, size(settings, "heads"), int(width * ratio)), size(settings, "layers"))
    resampler = Module(
        "Resampler",
        (Tensor("pos_embed", (QUERIES, output)), Tensor("query", (QUERIES, output))),
        children(
            kv_proj=linear(width, output, bias=False),
            attn=torch_attention(output, output // 128),
            ln_q=layer_norm(output),
            ln_kv=layer_norm(output),
        ),
    )
    model = Module(
        "VisionModel",
        (Tensor("positional_embedding", (POSITIONS, width)), Tensor("proj", (output, output))),
        children(
            conv1=convolution(3, width, (patch, patch), bias=False),
            ln_pre=layer_norm(width),
            transformer=Module("Transformer", children=children(resblocks=layers)),
            attn_pool=resampler,
            ln_post=layer_norm(output),
        ),
    )
    return in_part(model, "vision")
