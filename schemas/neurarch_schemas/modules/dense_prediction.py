"""The neck that turns a vision transformer's features into one map (DPT, arXiv:2103.13413)."""

from __future__ import annotations

from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import batch_norm, convolution, linear, transposed_convolution
from neurarch_schemas.modules.tree import Module, Stack, named, stack
from neurarch_schemas.modules.vision import sequential


def _reassembled(inputs: int, channels: int, factor: float) -> Module:
    """One level: projected to its channels, then enlarged or reduced by ``factor``."""
    scale = int(factor)
    resize = None
    if factor > 1:
        resize = transposed_convolution(channels, channels, (scale, scale))
    elif factor < 1:
        resize = convolution(channels, channels, (3, 3))
    parts: dict[str, Module | Stack | None] = {"projection": convolution(inputs, channels, (1, 1)), "resize": resize}
    return Module("Reassemble", children=named(parts))


def _fusion(width: int, *, norm: bool, bias: bool) -> Module:
    convolved = convolution(width, width, (3, 3), bias=bias)
    residual: dict[str, Module | Stack | None] = {
        "convolution1": convolved,
        "convolution2": convolved,
        "batch_norm1": batch_norm(width) if norm else None,
        "batch_norm2": batch_norm(width) if norm else None,
    }
    block = Module("ResidualLayer", children=named(residual))
    parts = {"projection": convolution(width, width, (1, 1)), "residual_layer1": block, "residual_layer2": block}
    return Module("FusionLayer", children=named({**parts}))


def neck(config: ModelConfig, hidden: int, *, reads_class_token: bool = False) -> Module:
    """``hidden`` is the width of the features; DPT may project each together with the class token."""
    channels, width = config.integers("neck_hidden_sizes"), config.integer("fusion_hidden_size")
    factors = [float(item) for item in config.items("reassemble_factors") if isinstance(item, int | float)]
    norm = config.flag("use_batch_norm_in_fusion_residual")
    bias = config.flag("use_bias_in_fusion_residual") if config.is_set("use_bias_in_fusion_residual") else not norm
    levels = stack(*(_reassembled(hidden, *level) for level in zip(channels, factors, strict=False)))
    projects = stack(sequential(linear(2 * hidden, hidden)), times=len(channels) if reads_class_token else 0)
    stage = Module("ReassembleStage", children=named({"layers": levels, "readout_projects": projects}))
    fused = stack(_fusion(width, norm=norm, bias=bias), times=len(channels))
    parts: dict[str, Module | Stack | None] = {
        "reassemble_stage": stage,
        "convs": stack(*(convolution(size, width, (3, 3), bias=False) for size in channels)),
        "fusion_stage.layers": fused,
    }
    return Module("Neck", children=named(parts), part="convolution")
