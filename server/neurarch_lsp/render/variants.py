"""What the neighbours of a value would cost: the model built again with each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_lsp.render.model_numbers import ModelNumbers, numbers
from neurarch_schemas.what_if import with_values

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONScalar, JSONValue

HALVED = (
    "heads",
    "groups",
    "kv",
    "rank",
    "size",
    "dim",
    "n_embd",
    "n_inner",
    "experts",
    "d_model",
    "d_kv",
    "d_ff",
    "ffn",
)
"""Words in the names of keys whose sensible neighbours are half and double rather than one less and one more."""
LARGEST = 1 << 40


@dataclass(frozen=True, slots=True)
class Variant:
    value: JSONScalar
    numbers: ModelNumbers
    is_present: bool = False


@dataclass(frozen=True, slots=True)
class Variants:
    """The present value among its neighbours, in ascending order, and which numbers differ between them."""

    rows: tuple[Variant, ...]
    varies: frozenset[str]


def neighbours(name: str, value: JSONValue) -> tuple[JSONScalar, ...]:
    """Values near ``value`` that a person may consider; () where none comes to mind."""
    if isinstance(value, bool):
        return (not value,)
    if not isinstance(value, int) or not 0 < value < LARGEST:
        return ()
    if any(word in name for word in HALVED) and value % 2 == 0 and value > 2:
        return (value // 2, value * 2)
    if any(word in name for word in HALVED) and value <= 2:
        return (value * 2, value * 4)
    return tuple(near for near in (value - 1, value + 1) if near > 0)


def variants(
    analysis: Analysis,
    pointer: str,
    name: str,
    value: JSONValue,
    context: int | None = None,
    cache_dtype: str | None = None,
) -> Variants | None:
    """None where the model's numbers are not known, or where no neighbour changes any of them."""
    present = numbers(analysis, context, cache_dtype)
    if present is None or not isinstance(value, bool | int):
        return None
    rows = [Variant(value, present, True)]
    broken = bool(shape_problems(analysis))
    for near in neighbours(name, value):
        other = with_values(analysis, {pointer: near})
        if other.built.tree is None or (shape_problems(other) and not broken):
            continue
        found = numbers(other, context or present.context, cache_dtype)
        if found is not None:
            rows.append(Variant(near, found))
    varies = frozenset(
        field
        for field in (
            "total",
            "active",
            "active_with_embeddings",
            "cache_per_token",
            "cache_constant",
            "cache_at_context",
        )
        if len({getattr(row.numbers, field) for row in rows}) > 1
    )
    if not varies:
        return None
    return Variants(tuple(sorted(rows, key=lambda row: (isinstance(row.value, bool), row.value or 0))), varies)


def shape_problems(analysis: Analysis) -> list[str]:
    """Widths that would not fit together."""
    from neurarch_schemas.modules.tree import walk

    tree = analysis.built.tree
    return [problem.message for visit in walk(tree) for problem in visit.module.problems] if tree else []
