from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_shapes import CHANNELS, CONVOLUTIONS, KEEPS, POOLS, cells_left
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
        return before._replace(cells=cells_left(layer) if layer.name.startswith("Adaptive") else None)
    if layer.name == "Flatten" and not layer.arguments and before.cells is not None:
        return Width(before.layer, before.size * before.cells, "features")
    factor = layer.integer({"PixelShuffle": "upscale_factor", "PixelUnshuffle": "downscale_factor"}.get(layer.name, ""))
    if factor is not None and factor > 0:
        area = factor * factor
        if layer.name == "PixelUnshuffle":
            return Width(layer, before.size * area, "channels")
        return Width(layer, before.size // area, "channels") if before.size % area == 0 else None
    return None


def _finding(before: Width, layer: Layer, taken: int) -> Finding:
    return Finding(
        f"{layer.name} takes {taken:,} {before.what}, but {before.layer.name} before it gives {before.size:,}: the "
        "first forward pass fails",
        layer.site.place,
        (before.layer.site.related(f"gives {before.size:,} {before.what}"),),
    )
