"""What layers make of the sizes of tensors, as far as they are known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from neurarch_rules.facts.python_values import NOTHING, Layer, Value

CONVOLUTIONS = tuple(f"Conv{kind}{size}d" for kind in ("", "Transpose") for size in (1, 2, 3))
CHANNELS = {
    "BatchNorm1d": "num_features",
    "BatchNorm2d": "num_features",
    "BatchNorm3d": "num_features",
    "GroupNorm": "num_channels",
}
"""Norms of the second axis."""
KEEPS = frozenset(
    (
        "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "ReLU", "ReLU6",
        "GELU", "SiLU", "Mish", "ELU", "SELU", "CELU", "Tanh", "Sigmoid", "LeakyReLU", "PReLU", "Hardswish",
        "Hardsigmoid", "Hardtanh", "Softplus", "Softsign", "LogSigmoid", "Softmax", "LogSoftmax", "Identity",
    )
)  # fmt: skip
POOLS = frozenset(
    (
        "MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "AdaptiveAvgPool1d",
        "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "Upsample", "ZeroPad2d", "ReflectionPad1d",
        "ReflectionPad2d", "ReplicationPad2d", "Softmax2d",
    )
)  # fmt: skip
"""Keep the channels, not the last axis."""
RECURRENT = frozenset(("LSTM", "GRU", "RNN"))
CELLS = frozenset(("LSTMCell", "GRUCell", "RNNCell"))
FEATURES = {
    "Linear": "in_features",
    "LayerNorm": "normalized_shape",
    "RMSNorm": "normalized_shape",
    "MultiheadAttention": "embed_dim",
    "TransformerEncoderLayer": "d_model",
    "TransformerDecoderLayer": "d_model",
}


def cells_left(pool: Layer) -> int | None:
    """Positions that an adaptive pool leaves in each channel."""
    size, axes = pool.arguments.get("output_size", NOTHING).of, int(pool.name[-2])
    if type(size) is int:
        return size**axes if 0 < size < 1000 else None
    if not isinstance(size, tuple) or len(size) != axes:
        return None
    sides = [item.integer if isinstance(item, Value) else None for item in size]
    known = [side for side in sides if side is not None]
    return prod(known) if len(known) == axes else None


@dataclass(frozen=True)
class Shape:
    """A tensor: its number of axes, the sizes of the last and of the second one, ``cells`` the product of those behind
    the second; None for what is not known. ``giver`` is the layer that gave the last size or the channels."""

    rank: int | None = None
    last: int | None = None
    second: int | None = None
    cells: int | None = None
    giver: Layer | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Several:
    """What a recurrent layer or attention returns: a tuple of tensors (or of tuples of them)."""

    giver: Layer = field(compare=False)
    items: tuple[Shape | Several, ...]


ANY = Shape()


@dataclass(frozen=True)
class Wanted:
    """``size`` on the last axis ("features") or the second ("channels")."""

    size: int
    what: str


def taken_from(layer: Layer) -> str | None:
    """The argument that says what a layer takes."""
    name = layer.name
    if name in CONVOLUTIONS:
        return "in_channels"
    if name in RECURRENT or name in CELLS:
        return "input_size"
    return CHANNELS.get(name) or FEATURES.get(name)


def wanted(layer: Layer) -> Wanted | None:
    """What a layer takes."""
    what = "channels" if layer.name in CONVOLUTIONS or layer.name in CHANNELS else "features"
    name = taken_from(layer)
    if name is not None:
        size = layer.integer(name)
        return None if size is None else Wanted(size, what)
    inner = layer.arguments.get("encoder_layer", layer.arguments.get("decoder_layer", NOTHING)).of
    return wanted(inner) if layer.name.startswith("Transformer") and isinstance(inner, Layer) else None


def after(layer: Layer, given: Shape) -> Shape | Several:
    """What a layer makes of a tensor."""
    name = layer.name
    if name == "Linear":
        return _with_last(given, layer.integer("out_features"), layer)
    if name == "Embedding":
        rank = None if given.rank is None else given.rank + 1
        return Shape(rank, layer.integer("embedding_dim"), giver=layer)
    if name in CONVOLUTIONS:
        return Shape(int(name[-2]) + 2, None, layer.integer("out_channels"), giver=layer)
    if name in RECURRENT:
        return _recurrent(layer)
    if name in CELLS:
        state = Shape(2, layer.integer("hidden_size"), layer.integer("hidden_size"), giver=layer)
        return Several(layer, (state, state)) if name == "LSTMCell" else state
    if name == "MultiheadAttention":
        return Several(layer, (Shape(3, layer.integer("embed_dim"), giver=layer), ANY))
    if name in KEEPS or name in CHANNELS or name in ("LayerNorm", "RMSNorm") or name.startswith("Transformer"):
        return given
    if name in POOLS:
        cells = cells_left(layer) if name.startswith("Adaptive") else None
        return replace(given, last=None, cells=cells)
    return flat(given) if name == "Flatten" and not layer.arguments else ANY


def _recurrent(layer: Layer) -> Several:
    hidden, both = layer.integer("hidden_size"), layer.arguments.get("bidirectional")
    width = hidden
    if "proj_size" in layer.arguments or (both is not None and not isinstance(both.of, bool)):
        width = None
    elif both is not None and both.of and hidden is not None:
        width = 2 * hidden
    state = Shape(3, None if "proj_size" in layer.arguments else hidden, giver=layer)
    states = Several(layer, (state, state)) if layer.name == "LSTM" else state
    return Several(layer, (Shape(3, width, giver=layer), states))


def _with_last(given: Shape, last: int | None, giver: Layer) -> Shape:
    second = last if given.rank == 2 else given.second if given.rank is not None and given.rank > 2 else None
    return Shape(given.rank, last, second, giver=giver)


def flat(given: Shape) -> Shape:
    """All but the first axis in one."""
    if given.rank == 2:
        return given
    size = None if given.second is None or given.cells is None else given.second * given.cells
    return Shape(2, size, size, giver=given.giver)


def found_in(layer: Layer, given: Shape) -> int | None:
    """The size that a layer meets where it wants another one; None where it is the right one or not known."""
    want = wanted(layer)
    if want is None:
        return None
    if want.what == "channels":
        met = given.second
        axes = int(layer.name[-2]) + 2 if layer.name[-2:-1].isdigit() else None
        if axes is not None and given.rank not in ((2, 3) if layer.name == "BatchNorm1d" else (axes,)):
            return None
    else:
        met = given.last
    return met if met is not None and met != want.size else None
