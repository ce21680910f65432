from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_values import NOTHING, Events, Layer, Value, events

RULE = RuleInfo(
    name="sequential-sizes-disagree",
    severity="error",
    category="correctness",
    summary="A layer of a Sequential expects another width than the layer before it gives",
    reads=("python",),
    needs=("Sequential",),
)

GIVES = {"Linear": "out_features", "Embedding": "embedding_dim"}
TAKES = {"Linear": "in_features", "LayerNorm": "normalized_shape", "RMSNorm": "normalized_shape"}
CONVOLUTIONS = tuple(f"Conv{kind}{size}d" for kind in ("", "Transpose") for size in (1, 2, 3))
CHANNELS = {
    "BatchNorm1d": "num_features",
    "BatchNorm2d": "num_features",
    "BatchNorm3d": "num_features",
    "GroupNorm": "num_channels",
}
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


class Width(NamedTuple):
    """What a layer gives: ``features`` on the last axis or ``channels`` on the second, ``cells`` in each channel."""

    layer: Layer
    size: int
    what: str
    cells: int | None = None


def check(context: Context) -> Iterator[Finding]:
    return _faults(events(context, RULE.needs, _faults))


def _faults(found: Events) -> Iterator[Finding]:
    seen: set[int] = set()
    for made in found.made:
        if made.layer.name != "Sequential":
            continue
        before: Width | None = None
        for child in _flat(made.layer.children):
            layer = child.of
            if not isinstance(layer, Layer):
                before = None
                continue
            taken, what = _taken(layer)
            disagrees = before is not None and what == before.what and taken != before.size
            if before is not None and taken is not None and disagrees and id(layer.site.node) not in seen:
                seen.add(id(layer.site.node))
                yield _finding(before, layer, taken)
            before = _after(layer, before)


def _flat(children: tuple[Value, ...]) -> Iterator[Value]:
    """The layers in order, those of a Sequential inside among them."""
    for child in children:
        if isinstance(child.of, Layer) and child.of.name == "Sequential":
            yield from _flat(child.of.children) if child.of.children else (NOTHING,)
        else:
            yield child


def _taken(layer: Layer) -> tuple[int | None, str]:
    if layer.name in TAKES:
        return layer.integer(TAKES[layer.name]), "features"
    return layer.integer("in_channels" if layer.name in CONVOLUTIONS else CHANNELS.get(layer.name, "")), "channels"


def _after(layer: Layer, before: Width | None) -> Width | None:
    """The width behind a layer; None where it is not known."""
    if layer.name in GIVES or layer.name in CONVOLUTIONS:
        what = "features" if layer.name in GIVES else "channels"
        size = layer.integer(GIVES.get(layer.name, "out_channels"))
        return None if size is None else Width(layer, size, what)
    if before is None or layer.name in KEEPS:
        return before
    if layer.name in ("LayerNorm", "RMSNorm"):
        return before if before.what == "features" else None
    if before.what == "features":
        halved = layer.name == "GLU" and not layer.arguments and before.size % 2 == 0
        return Width(layer, before.size // 2, "features") if halved else None
    if layer.name in CHANNELS:
        return before
    if layer.name in POOLS:
        return before._replace(cells=_cells(layer) if layer.name.startswith("Adaptive") else None)
    if layer.name == "Flatten" and not layer.arguments and before.cells is not None:
        return Width(before.layer, before.size * before.cells, "features")
    factor = layer.integer({"PixelShuffle": "upscale_factor", "PixelUnshuffle": "downscale_factor"}.get(layer.name, ""))
    if factor is not None and factor > 0:
        area = factor * factor
        if layer.name == "PixelUnshuffle":
            return Width(layer, before.size * area, "channels")
        return Width(layer, before.size // area, "channels") if before.size % area == 0 else None
    return None


def _cells(pool: Layer) -> int | None:
    """Positions that an adaptive pool leaves in each channel."""
    size, axes = pool.arguments.get("output_size", NOTHING).of, int(pool.name[-2])
    if type(size) is int:
        return size**axes if 0 < size < 1000 else None
    if not isinstance(size, tuple) or len(size) != axes:
        return None
    sides = [item.integer if isinstance(item, Value) else None for item in size]
    known = [side for side in sides if side is not None]
    return prod(known) if len(known) == axes else None


def _finding(before: Width, layer: Layer, taken: int) -> Finding:
    return Finding(
        f"{layer.name} takes {taken:,} {before.what}, but {before.layer.name} before it gives {before.size:,}: the "
        "first forward pass fails",
        layer.site.place,
        (before.layer.site.related(f"gives {before.size:,} {before.what}"),),
    )
