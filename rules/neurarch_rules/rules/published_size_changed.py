from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.cost import changed, cost_change
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.places import pointer, shown_name
from neurarch_rules.facts.published import Measured, Published, measured, model_types, only_difference

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="published-size-changed",
    severity="info",
    category="correctness",
    summary="All sizes but one are those of a published model, whose weights do not fit then",
    reads=("config", "params"),
    needs=("vocab_size",),
)

ATTENTION = frozenset({"hidden_size", "heads", "kv_heads", "head_dim"})
"""The sizes nobody changes in a model that keeps the others. Layers and experts are cut, feed-forward networks are
narrowed or padded, vocabularies grow: a file that gives those says nothing by it."""
LEFT_TO_OTHERS = frozenset({"layers", "hidden_size", "heads", "feed_forward", "vocab_size"})
"""Left out of a config that is not part of another: ``size-key-missing`` sees it."""
LEAST_WRITTEN = 4
"""Other sizes that stand in the file, the vocabulary among them: what a class has by default is no sign of a model."""


def check(context: Context) -> Iterator[Finding]:
    config, outer = decoder_config(context), context.analysis.config
    if config is None or outer is None or context.analysis.folder.checkpoint:
        return
    mine = measured(config, outer)
    if mine is None or len(mine.written) < LEAST_WRITTEN or "vocab_size" not in mine.written:
        return
    types, sizes = model_types(config, outer), _comparable(context, mine, config)
    found = only_difference(mine, types, sizes, related=config.is_native)
    if found is None:
        return
    published, size = found
    if len(mine.written - {size}) < LEAST_WRITTEN:
        return
    if are_defaults(config, *(mine.keys[name] for name in mine.written)):
        return
    value = getattr(published.sizes, size)
    where = pointer(config, mine.keys[size])
    key = shown_name(where)
    given = "is" if size in mine.written else "is not given, so"
    yield Finding(
        f"{key} {given} {getattr(mine.sizes, size)}, but {published.name}, which has all the other sizes of this file "
        f"({_shown(published, mine.written - {size})}), has {value}: {_consequence(context, where, value)}",
        Place(where),
        fixes=set_value(
            context.analysis,
            where.rpartition("/")[0],
            key,
            value,
            f"{key} = {value}, as in {published.name}{cost_change(context, where, value)}",
            "display",
        ),
    )


def _comparable(context: Context, mine: Measured, config: ModelConfig) -> frozenset[str]:
    """The sizes that may differ: of attention, and what a part of a composite leaves to its class."""
    if not config.is_native or context.analysis.kind == "params":
        return ATTENTION & mine.written  # foreign code may have other names for the rest, params.json has
    left_out = frozenset(mine.keys) - mine.written
    return ATTENTION - (left_out & LEFT_TO_OTHERS) if config is context.analysis.config else ATTENTION | left_out


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
