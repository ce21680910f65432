from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import Site
from neurarch_rules.facts.python_values import Events, Layer, Made, events, is_given
from neurarch_rules.facts.words import divisors, either

RULE = RuleInfo(
    name="layer-sizes-indivisible",
    severity="error",
    category="correctness",
    summary="Heads or groups of a torch layer do not divide its width",
    reads=("python",),
    needs=("MultiheadAttention", "Transformer", "GroupNorm", "Conv"),
)

PAIRS = {
    "MultiheadAttention": (("embed_dim", "num_heads", "heads"),),
    "TransformerEncoderLayer": (("d_model", "nhead", "heads"),),
    "TransformerDecoderLayer": (("d_model", "nhead", "heads"),),
    "Transformer": (("d_model", "nhead", "heads"),),
    "GroupNorm": (("num_channels", "num_groups", "groups"),),
}
CONVOLUTION = (("in_channels", "groups", "groups"), ("out_channels", "groups", "groups"))


def check(context: Context) -> Iterator[Finding]:
    return _faults(events(context, RULE.needs, _faults))


def _faults(found: Events) -> Iterator[Finding]:
    seen: set[int] = set()
    for made in found.made:
        pairs = PAIRS.get(made.layer.name, CONVOLUTION if made.layer.name.startswith("Conv") else ())
        for width_name, count_name, word in pairs:
            width, count = made.layer.integer(width_name), made.layer.integer(count_name)
            if width is None or count is None or count <= 0 or width <= 0 or width % count == 0:
                continue
            if id(made.layer.site.node) not in seen:
                seen.add(id(made.layer.site.node))
                yield _finding(made, width, count, count_name, width_name, word)


def _finding(made: Made, width: int, count: int, count_name: str, width_name: str, word: str) -> Finding:
    layer = made.layer
    legal = [each for each in divisors(width) if abs(each - count) <= max(8, count // 2)]
    advice = f"; {count_name} may be {either(legal[:6])}" if legal else ""
    place = _place(layer, made.construction, width_name, count_name)
    related = () if place is layer.site else (layer.site.related("the layer that refuses"),)
    return Finding(
        f"{layer.name} cannot be built: {width_name} = {width:,} is not a multiple of {count} {word} "
        f"({width} / {count} = {width / count:.4g}){advice}",
        place.place,
        related,
    )


def _place(layer: Layer, construction: Site, *names: str) -> Site:
    """The construction or call that gives one of the numbers, else the layer itself."""
    for name in names:
        origin = layer.arguments[name].origin
        if origin is not None and _inside(construction, origin):
            return construction.at(origin.node)
    for name in reversed(names):
        origin = layer.arguments[name].origin
        if origin is not None and is_given(origin) and not _inside(layer.site, origin):
            return origin
    return layer.site


def _inside(outer: Site, inner: Site) -> bool:
    first, last = outer.span
    start, end = inner.span
    return first <= start and end <= last and getattr(outer.node, "body", None) is None
