"""MobileNet-V5 (300M, encoder only) as the timm library builds it: the vision tower of Gemma 3n.

Inverted bottlenecks (arXiv:2404.10518), in the later stages in turn with attention of one key and value head; the last
two stages are fused into one map. Norms have no bias.
"""

from __future__ import annotations

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import convolution, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("gemma3n_vision",)

_KNOWN = "mobilenetv5_300m_enc"
_STEM, _FUSED, _OUTPUT = 64, 128, 2048
_WIDTHS = (256, 640, 1280)
_PAIRS = 14
"""Pairs of attention and bottleneck in the third stage."""
_LAST_PAIRS = 19


def normed(inputs: int, outputs: int, kernel: int, *, depthwise: bool = False) -> Module:
    layer = convolution(inputs, outputs, (kernel, kernel), bias=False, groups=inputs if depthwise else 1)
    return Module("NormedConvolution", children=children(conv=layer, bn=rms_norm(outputs)))


def edge_block(inputs: int, outputs: int) -> Module:
    """Expansion by a full convolution."""
    inner = 4 * inputs
    return Module(
        "EdgeResidual",
        children=children(
            conv_exp=convolution(inputs, inner, (3, 3), bias=False),
            bn1=rms_norm(inner),
            conv_pwl=convolution(inner, outputs, (1, 1), bias=False),
            bn2=rms_norm(outputs),
        ),
    )


def layer_scale(width: int) -> Module:
    return Module("LayerScale", (Tensor("gamma", (width,)),))


def bottleneck(inputs: int, outputs: int, expansion: int, start: int = 0, middle: int = 0) -> Module:
    """``start`` and ``middle`` are the kernels of the depthwise convolutions, 0 for none."""
    inner = expansion * inputs
    return Module(
        "InvertedBottleneck",
        children=children(
            dw_start=normed(inputs, inputs, start, depthwise=True) if start else None,
            pw_exp=normed(inputs, inner, 1),
            dw_mid=normed(inner, inner, middle, depthwise=True) if middle else None,
            pw_proj=normed(inner, outputs, 1),
            layer_scale=layer_scale(outputs),
        ),
    )


def attention(width: int, heads: int, dim: int, *, reduced: bool) -> Module:
    """``reduced``: keys and values of half the resolution."""

    def key_or_value() -> Module:
        down = convolution(width, width, (3, 3), bias=False, groups=width) if reduced else None
        norm = rms_norm(width) if reduced else None
        return Module(
            "Projection",
            children=children(down_conv=down, norm=norm, proj=convolution(width, dim, (1, 1), bias=False)),
        )

    queries = Module("Projection", children=children(proj=convolution(width, heads * dim, (1, 1), bias=False)))
    outputs = Module("Projection", children=children(proj=convolution(heads * dim, width, (1, 1), bias=False)))
    block = Module(
        "Attention",
        children=children(query=queries, key=key_or_value(), value=key_or_value(), output=outputs),
        part="attention",
        attention=AttentionShape(heads, 1, dim, dim, "encoder", causal=False, position="none"),
    )
    return Module("AttentionBlock", children=children(norm=rms_norm(width), attn=block, layer_scale=layer_scale(width)))


def network() -> Module:
    first, second, third = _WIDTHS
    attends, looks = attention(second, 12, 64, reduced=True), attention(third, 16, 96, reduced=False)
    stages = (
        (edge_block(_STEM, _FUSED), *(edge_block(_FUSED, _FUSED),) * 2),
        (bottleneck(_FUSED, first, 6, 3, 5), *(bottleneck(first, first, 4, kernel) for kernel in (5, 3, 5, 3))),
        (
            bottleneck(first, second, 6, 5, 5),
            *(bottleneck(second, second, 4, 5),) * 7,
            bottleneck(second, second, 1),
            *(attends, bottleneck(second, second, 2)) * _PAIRS,
        ),
        (bottleneck(second, third, 6, 5, 5), *(looks, bottleneck(third, third, 2)) * _LAST_PAIRS),
    )
    joined = second + third
    fusion = Module(
        "FusionBlock", children=children(pw_exp=normed(joined, 2 * joined, 1), pw_proj=normed(2 * joined, _OUTPUT, 1))
    )
    stem = convolution(3, _STEM, (3, 3))
    return Module(
        "MobileNetV5",
        children=children(
            conv_stem=Module("NormedConvolution", children=children(conv=stem, bn=rms_norm(_STEM))),
            blocks=stack(*(sequential(*stage) for stage in stages)),
            msfa=Module("FusionAdapter", children=children(ffn=fusion, norm=rms_norm(_OUTPUT))),
        ),
    )


def build(config: ModelConfig) -> Module:
    name = config.text("architecture", _KNOWN)
    if name != _KNOWN or config.is_set("model_args"):
        raise CannotBuild(f"of the timm library's networks only {_KNOWN} is known, not {name}", ("architecture",))
    return Module("VisionModel", children=children(timm_model=network()), width_out=_OUTPUT)
