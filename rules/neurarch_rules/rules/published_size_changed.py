from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.cost import changed, cost_change
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.places import place, pointer
from neurarch_rules.facts.published import Measured, Published, measured, model_types, with_layers

RULE = RuleInfo(
    name="published-size-changed",
    severity="info",
    category="correctness",
    summary="All sizes but one are those of a published model, whose weights do not fit then",
    needs=("vocab_size",),
)

ATTENTION = ("hidden_size", "heads", "kv_heads", "head_dim")
"""The sizes nobody changes in a model that keeps the others. Layers and experts are cut, feed-forward networks are
narrowed or padded, vocabularies grow: those say nothing."""
LEAST_WRITTEN = 4
"""Other sizes that stand in the file: what a class has by default is no sign of a model."""


def check(context: Context) -> Iterator[Finding]:
    config, outer = decoder_config(context), context.analysis.config
    if config is None or outer is None or context.analysis.folder.checkpoint:
        return
    mine = measured(config, outer)
    if mine is None:
        return
    found = _origin(mine, model_types(config, outer))
    if found is None:
        return
    published, size = found
    key, value = mine.keys[size], getattr(published.sizes, size)
    if len(mine.written - {size}) < LEAST_WRITTEN:
        return
    if are_defaults(config, *(mine.keys[name] for name in mine.written)):
        return
    if size not in mine.written and not config.is_native:
        return  # foreign code may have another name for it
    where = pointer(config, key)
    given = "is" if size in mine.written else "is not given, so"
    yield Finding(
        f"{key} {given} {getattr(mine.sizes, size)}, but {published.name}, which has all the other sizes of this file "
        f"({_shown(published, mine.written - {size})}), has {value}: {_consequence(context, where, value)}",
        place(config, key),
        fixes=set_value(
            context.analysis,
            config.pointer,
            key,
            value,
            f"{key} = {value}, as in {published.name}{cost_change(context, where, value)}",
            "display",
        ),
    )


def _origin(mine: Measured, types: frozenset[str]) -> tuple[Published, str] | None:
    """The published model that differs in one size of attention, and which; None where one differs in nothing."""
    found: list[tuple[int, Published, str]] = []
    for published in with_layers(mine.sizes.layers):
        other = published.sizes
        if other.feed_forward != mine.sizes.feed_forward or not other.has_vocabulary_of(mine.sizes):
            continue
        apart = {size for size in ATTENTION if getattr(other, size) != getattr(mine.sizes, size)}
        if not apart:
            return None
        if "head_dim" not in mine.written and apart & {"hidden_size", "heads"}:
            apart.discard("head_dim")
        if "kv_heads" not in mine.written and "heads" in apart:
            apart.discard("kv_heads")
        if len(apart) == 1 and published.type in types:
            found.append((abs(other.vocab_size - mine.sizes.vocab_size), published, apart.pop()))
    return min(found, key=lambda item: item[0])[1:] if found else None


def _shown(published: Published, names: frozenset[str]) -> str:
    """``64 layers, hidden size 5120, 64 heads, ...``, those of ``names``."""
    sizes = published.sizes
    shown = {
        "layers": f"{sizes.layers} layers",
        "hidden_size": f"hidden size {sizes.hidden_size}",
        "heads": f"{sizes.heads} heads",
        "kv_heads": f"{sizes.kv_heads} KV heads",
        "head_dim": f"head size {sizes.head_dim}",
        "feed_forward": f"feed-forward size {sizes.feed_forward}",
        "vocab_size": f"vocabulary {sizes.vocab_size}",
    }
    return ", ".join(text for name, text in shown.items() if name in names)


def _consequence(context: Context, where: str, value: int) -> str:
    """What happens to that model's weights, from the tensors of both."""
    here = context.analysis.rows
    other = changed(context.analysis, where, value)
    there = None if other is None else other.rows
    if here is None or there is None:
        return "its weights do not fit (a model trained from scratch may differ)"
    shapes: dict[str, list[tuple[int, ...]]] = {}
    for row in there:
        shapes.setdefault(row.name, []).append(row.shape)
    for row in here:
        if row.name in shapes and row.shape not in shapes[row.name]:
            return (
                f"{_short(row.name)} is {list(row.shape)} here and {list(shapes[row.name][0])} there, so its weights "
                "do not load (a model trained from scratch may differ)"
            )
    return "its weights load without a complaint, and the model computes something else with them"


def _short(name: str) -> str:
    """``k_proj`` of ``model.layers.{}.self_attn.k_proj.weight``."""
    return name.removesuffix(".weight").rpartition(".")[2]
