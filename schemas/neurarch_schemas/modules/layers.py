"""Leaves: linear maps, embeddings, norms, convolutions, with the tensor layout of torch.nn."""

from __future__ import annotations

from math import prod

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.modules.tree import Module, Part, Tensor

MOST_LSTM_LAYERS = 256


def linear(
    inputs: int, outputs: int, bias: bool = True, *, tied_to: str | None = None, part: Part | None = None
) -> Module:
    """y = x W^T + b; weight ``(outputs, inputs)``. ``tied_to`` names the tensor whose storage the weight shares."""
    tensors = [Tensor("weight", (outputs, inputs), tied_to=tied_to)]
    if bias:
        tensors.append(Tensor("bias", (outputs,)))
    return Module(
        "Linear",
        tuple(tensors),
        part=part,
        multiply_accumulates=inputs * outputs,
        width_in=inputs,
        width_out=outputs,
    )


def transposed_linear(inputs: int, outputs: int) -> Module:
    """GPT-2's "Conv1D": a linear map that stores its weight as ``(inputs, outputs)``."""
    return Module(
        "Conv1D",
        (Tensor("weight", (inputs, outputs)), Tensor("bias", (outputs,))),
        multiply_accumulates=inputs * outputs,
        width_in=inputs,
        width_out=outputs,
    )


def embedding(
    rows: int, width: int, *, part: Part = "embedding", lookup: bool = False, tied_to: str | None = None
) -> Module:
    """A table ``(rows, width)``. ``lookup`` marks the token embedding, which ``active`` leaves out."""
    return Module(
        "Embedding", (Tensor("weight", (rows, width), tied_to=tied_to),), part=part, lookup=lookup, width_out=width
    )


def token_embedding(vocabulary: int, width: int) -> Module:
    return embedding(vocabulary, width, lookup=True)


def position_embedding(positions: int, width: int) -> Module:
    return embedding(positions, width, part="position")


def stored_frequencies(scalars: int) -> Module:
    """The frequencies of rotary positions as a persistent buffer; most classes compute them instead."""
    return Module("RotaryEmbedding", (Tensor("inv_freq", (scalars,), "buffer"),), part="position")


def rms_norm(width: int, type: str = "RMSNorm") -> Module:  # noqa: A002  # the field is called type everywhere
    return Module(type, (Tensor("weight", (width,)),), part="norm", width_in=width, width_out=width)


def layer_norm(width: int, *, weight: bool = True, bias: bool = True) -> Module:
    tensors = [Tensor(name, (width,)) for name, present in (("weight", weight), ("bias", bias)) if present]
    return Module("LayerNorm", tuple(tensors), part="norm", width_in=width, width_out=width)


def group_norm(channels: int) -> Module:
    return Module("GroupNorm", (Tensor("weight", (channels,)), Tensor("bias", (channels,))), part="norm")


def batch_norm(channels: int, *, affine: bool = True) -> Module:
    """Weight and bias, and three persistent buffers: running mean and variance, and a count of batches (a scalar)."""
    learned = (Tensor("weight", (channels,)), Tensor("bias", (channels,))) if affine else ()
    running = (
        Tensor("running_mean", (channels,), "buffer"),
        Tensor("running_var", (channels,), "buffer"),
        Tensor("num_batches_tracked", (), "buffer"),
    )
    return Module("BatchNorm", learned + running, part="norm")


def convolution(inputs: int, outputs: int, kernel: tuple[int, ...], *, bias: bool = True, groups: int = 1) -> Module:
    """Weight ``(outputs, inputs / groups, *kernel)``; the cost is per output position."""
    weight = (outputs, inputs // groups, *kernel)
    tensors = [Tensor("weight", weight)]
    if bias:
        tensors.append(Tensor("bias", (outputs,)))
    return Module(f"Conv{len(kernel)}d", tuple(tensors), multiply_accumulates=prod(weight), width_out=outputs)


def transposed_convolution(
    inputs: int, outputs: int, kernel: tuple[int, ...], *, bias: bool = True, groups: int = 1
) -> Module:
    """Weight ``(inputs, outputs / groups, *kernel)``."""
    weight = (inputs, outputs // groups, *kernel)
    tensors = [Tensor("weight", weight)]
    if bias:
        tensors.append(Tensor("bias", (outputs,)))
    return Module(f"ConvTranspose{len(kernel)}d", tuple(tensors), multiply_accumulates=prod(weight), width_out=outputs)


def weight_normed(layer: Module) -> Module:
    """The layer with its weight as a direction ("original1") and a length for each first index ("original0")."""
    tensors: list[Tensor] = []
    for tensor in layer.tensors:
        if tensor.name == "weight":
            lengths = (tensor.shape[0], *(1,) * (len(tensor.shape) - 1))
            tensors.append(Tensor("parametrizations.weight.original0", lengths))
            tensors.append(Tensor("parametrizations.weight.original1", tensor.shape))
        else:
            tensors.append(tensor)
    return layer.with_(tensors=tuple(tensors))


def lstm(width: int, layers: int) -> Module:
    """torch.nn.LSTM from ``width`` to ``width`` values; every layer has its own four tensors, named by its number.

    Raises CannotBuild for a number of layers that no LSTM has.
    """
    if not 0 < layers <= MOST_LSTM_LAYERS:
        raise CannotBuild(f"an LSTM of {layers} layers is not built")
    tensors: list[Tensor] = []
    for number in range(layers):
        tensors += [Tensor(f"weight_{kind}_l{number}", (4 * width, width)) for kind in ("ih", "hh")]
        tensors += [Tensor(f"bias_{kind}_l{number}", (4 * width,)) for kind in ("ih", "hh")]
    return Module("LSTM", tuple(tensors), multiply_accumulates=8 * width * width * layers, width_out=width)
