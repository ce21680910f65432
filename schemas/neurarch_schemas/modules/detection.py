"""Blocks of object detectors: deformable attention, prediction heads, convolutions of the feature pyramid."""

from __future__ import annotations

from itertools import pairwise

from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Run, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import sequential, vit_attention


def conv_norm(inputs: int, outputs: int, kernel: int, *, groups: int = 1) -> Module:
    """A convolution without bias and its batch norm, named ``conv`` and ``norm``."""
    return convolution_norm(inputs, outputs, kernel, groups=groups, names=("conv", "norm"))


def prediction_head(inputs: int, hidden: int, outputs: int, depth: int) -> Module:
    """``depth`` linear maps with activations between them, listed as ``layers``."""
    if depth < 2:
        return Module("MLP", children=(("layers", stack(linear(inputs, outputs), times=depth)),))
    inner = Run((linear(hidden, hidden),), depth - 2)
    runs = (Run((linear(inputs, hidden),)), *((inner,) if depth > 2 else ()), Run((linear(hidden, outputs),)))
    return Module("MLP", children=(("layers", Stack(runs)),))


def perceptron(*widths: int) -> Module:
    """As ``prediction_head``, for any widths."""
    return Module("MLP", children=(("layers", stack(*(linear(*step) for step in pairwise(widths)))),))


def deformable_attention(hidden: int, heads: int, points: int, *, projects: bool = True) -> Module:
    """Attention at ``points`` sampled places over all levels for each head (arXiv:2010.04159).

    Offsets and weights come from the query; ``projects`` is False where values are used as they are.
    """
    dim = hidden // heads
    parts: dict[str, Module | Stack | None] = {
        "sampling_offsets": linear(hidden, 2 * heads * points),
        "attention_weights": linear(hidden, heads * points),
        "value_proj": linear(hidden, hidden) if projects else None,
        "output_proj": linear(hidden, hidden) if projects else None,
    }
    shape = AttentionShape(heads, heads, dim, dim, "sparse", causal=False)
    return Module("DeformableAttention", children=named(parts), part="attention", attention=shape)


def self_attention(hidden: int, heads: int) -> Module:
    """Projections as wide as the stream, whether or not the heads divide it."""
    return vit_attention(hidden, heads, width=hidden)


def projected_level(inputs: int, outputs: int, kernel: int = 1) -> Module:
    """A feature map brought to the width of the transformer, with a batch norm."""
    return sequential(convolution(inputs, outputs, (kernel, kernel), bias=False), batch_norm(outputs))


def rep_vgg_block(inputs: int, outputs: int) -> Module:
    """Two parallel convolutions that fold into one at inference (arXiv:2101.03697)."""
    parts = {"conv1": conv_norm(inputs, outputs, 3), "conv2": conv_norm(inputs, outputs, 1)}
    return Module("RepVggBlock", children=named(parts))


def cross_stage_block(inputs: int, outputs: int, blocks: int, hidden: int, bottleneck: int | None = None) -> Module:
    """Two paths, one through ``blocks`` RepVGG blocks, added (arXiv:1911.11929)."""
    width = hidden if bottleneck is None else bottleneck
    parts: dict[str, Module | Stack | None] = {
        "conv1": conv_norm(inputs, hidden, 1),
        "conv2": conv_norm(inputs, hidden, 1),
        "bottlenecks": stack(rep_vgg_block(width, width), times=blocks),
        "conv3": conv_norm(hidden, outputs, 1) if hidden != outputs else None,
    }
    return Module("CrossStageBlock", children=named(parts), part="convolution")


def enc_output(hidden: int) -> Module:
    return sequential(linear(hidden, hidden), layer_norm(hidden))


def frozen(module: Module) -> Module:
    """``module`` with every batch norm fixed: weight, bias, mean and variance as buffers, nothing counted."""
    if module.type == "BatchNorm":
        kept = (tensor for tensor in module.tensors if tensor.name != "num_batches_tracked")
        return module.with_(tensors=tuple(Tensor(tensor.name, tensor.shape, "buffer") for tensor in kept))
    inside = tuple(
        (
            name,
            frozen(child)
            if isinstance(child, Module)
            else Stack(
                tuple(Run(tuple(frozen(item) for item in run.modules), run.times) for run in child.runs),
                child.first_index,
            ),
        )
        for name, child in module.children
    )
    return module.with_(children=inside)
