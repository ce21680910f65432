"""Blocks of speech encoders over raw audio: strided convolutions, positional convolution, adapters."""

from __future__ import annotations

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import batch_norm, convolution, group_norm, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack


def weight_normalized(inputs: int, outputs: int, kernel: int, *, groups: int = 1, dimension: int = 2) -> Module:
    """A one-dimensional convolution whose weight is split into magnitude and direction (arXiv:1602.07868).

    ``dimension`` is the one the magnitudes run over. torch keeps both as parametrizations of ``weight``.
    """
    shape = (outputs, inputs // groups, kernel)
    magnitude = tuple(size if index == dimension else 1 for index, size in enumerate(shape))
    weight = Module("WeightNorm", (Tensor("original0", magnitude), Tensor("original1", shape)))
    return Module(
        "Conv1d",
        (Tensor("bias", (outputs,)),),
        named({"parametrizations.weight": weight}),
        multiply_accumulates=outputs * (inputs // groups) * kernel,
        width_out=outputs,
        part="convolution",
    )


def feature_encoder(config: ModelConfig, norm: str) -> Module:
    """wav2vec 2.0's strided convolutions (arXiv:2006.11477). ``norm``: "group" after the first, "layer" after each."""
    widths, kernels = config.integers("conv_dim"), config.integers("conv_kernel")
    if len(kernels) < len(widths):
        raise CannotBuild("conv_dim and conv_kernel must be equally long", ("conv_dim", "conv_kernel"))
    if norm not in ("group", "layer"):
        raise CannotBuild(f"feat_extract_norm {norm!r} is not known", ("feat_extract_norm",))
    layers = []
    for index, outputs in enumerate(widths):
        inputs = widths[index - 1] if index else 1
        parts: dict[str, Module | Stack | None] = {
            "conv": convolution(inputs, outputs, (kernels[index],), bias=config.flag("conv_bias"))
        }
        if norm == "layer":
            parts["layer_norm"] = layer_norm(outputs)
        elif index == 0:
            parts["layer_norm"] = group_norm(outputs)
        layers.append(Module("ConvLayer", children=named(parts)))
    return Module("FeatureEncoder", children=named({"conv_layers": stack(*layers)}), part="convolution")


def positional_convolution(config: ModelConfig, *, batch: bool = False) -> Module:
    """Relative positions by a wide grouped convolution; with ``batch`` a batch norm instead of weight norm."""
    hidden, kernel = config.integer("hidden_size"), config.integer("num_conv_pos_embeddings")
    groups = config.integer("num_conv_pos_embedding_groups")
    if batch:
        parts = {"conv": convolution(hidden, hidden, (kernel,), groups=groups), "batch_norm": batch_norm(hidden)}
        return Module("PositionalConvolution", children=named(parts), part="position")
    normalized = weight_normalized(hidden, hidden, kernel, groups=groups)
    return Module("PositionalConvolution", children=named({"conv": normalized}), part="position")


def convolution_adapter(config: ModelConfig) -> Module:
    """Convolutions over the encoder's output that shorten it, with gated linear units."""
    hidden = config.integer("hidden_size")
    width = config.integer("output_hidden_size", hidden) or hidden
    layer = Module(
        "AdapterLayer",
        children=named({"conv": convolution(width, 2 * width, (config.integer("adapter_kernel_size"),))}),
    )
    parts: dict[str, Module | Stack | None] = {
        "proj": linear(hidden, width) if width != hidden else None,
        "proj_layer_norm": layer_norm(width) if width != hidden else None,
        "layers": stack(layer, times=config.integer("num_adapter_layers")),
    }
    return Module("Adapter", children=named(parts), part="convolution")
