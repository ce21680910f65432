from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_values import Layer, events

RULE = RuleInfo(
    name="sequential-sizes-disagree",
    severity="error",
    category="correctness",
    summary="A layer of a Sequential expects another width than the layer before it gives",
    reads=("python",),
    needs=("Sequential",),
)

GIVES = {"Linear": "out_features", "Embedding": "embedding_dim"}
TAKES = {"Linear": "in_features", "LayerNorm": "normalized_shape"}
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
        "GELU", "SiLU", "Mish", "ELU", "SELU", "Tanh", "Sigmoid", "LeakyReLU", "Hardswish", "Hardsigmoid", "Softplus",
        "Softmax", "LogSoftmax", "Identity",
    )
)  # fmt: skip
POOLS = frozenset(
    ("MaxPool1d", "MaxPool2d", "AvgPool1d", "AvgPool2d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "Upsample")
)
"""Keep the channels, not the last axis."""


def check(context: Context) -> Iterator[Finding]:
    seen: set[int] = set()
    for made in events(context).made:
        if made.layer.name != "Sequential":
            continue
        features: tuple[Layer, int] | None = None
        channels: tuple[Layer, int] | None = None
        for child in made.layer.children:
            layer = child.of
            if not isinstance(layer, Layer):
                features = channels = None
                continue
            is_convolution = layer.name in CONVOLUTIONS
            taken = layer.integer(TAKES.get(layer.name, ""))
            if taken is not None and features is not None and taken != features[1] and id(layer.site.node) not in seen:
                seen.add(id(layer.site.node))
                yield _finding(features, layer, taken, "features")
            taken = layer.integer("in_channels" if is_convolution else CHANNELS.get(layer.name, ""))
            if taken is not None and channels is not None and taken != channels[1] and id(layer.site.node) not in seen:
                seen.add(id(layer.site.node))
                yield _finding(channels, layer, taken, "channels")
            if layer.name in GIVES:
                width = layer.integer(GIVES[layer.name])
                features, channels = (None if width is None else (layer, width)), None
            elif is_convolution:
                width = layer.integer("out_channels")
                features, channels = None, (None if width is None else (layer, width))
            elif layer.name in CHANNELS or layer.name in POOLS:
                features = None
            elif layer.name not in KEEPS and layer.name not in TAKES:
                features = channels = None


def _finding(before: tuple[Layer, int], layer: Layer, taken: int, what: str) -> Finding:
    return Finding(
        f"{layer.name} takes {taken:,} {what}, but {before[0].name} before it gives {before[1]:,}: the first forward "
        "pass fails",
        layer.site.place,
        (before[0].site.related(f"gives {before[1]:,} {what}"),),
    )
