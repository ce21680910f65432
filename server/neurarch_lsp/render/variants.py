"""What the neighbours of a value would cost: the model built again with each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.model_numbers import ModelNumbers, numbers
from neurarch_schemas.record import Record
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


class Variant(Record):
    value: JSONScalar
    numbers: ModelNumbers
    is_present: bool = False


class Variants(Record):
    """The present value among its neighbours, in ascending order, and which numbers differ between them."""

    rows: tuple[Variant, ...]
    varies: frozenset[str]


def neighbours(name: str, value: JSONValue) -> tuple[tuple[JSONScalar, ...], ...]:
    """Groups of values near ``value`` that a person may consider: a later group counts where none of an earlier one
    can be built."""
    if isinstance(value, bool):
        return ((not value,),)
    if isinstance(value, float):
        return ((value / 2, value * 2),) if 0 < value < LARGEST else ()
    if not isinstance(value, int) or not 0 <= value < LARGEST:
        return ()
    if value == 0:
        return ((1, 2),)
    close = tuple(near for near in (value - 1, value + 1) if near > 0)
    far = (value // 2, value * 2) if value % 2 == 0 and value > 2 else (value * 2, value * 4)
    return (far, close) if any(word in name for word in HALVED) else (close, far)


def variants(
    analysis: Analysis,
    pointer: str,
    name: str,
    value: JSONValue,
    cache_dtype: str | None = None,
    candidates: tuple[JSONScalar, ...] | None = None,
) -> Variants | None:
    """None where the model's numbers are not known, or where no neighbour changes any of them.

    ``candidates`` replace the neighbours that come to mind by name and value.
    """
    present = numbers(analysis, None, cache_dtype)
    if present is None or isinstance(value, dict | list) or value is None:
        return None
    rows = [Variant(value, present, True)]
    broken = bool(shape_problems(analysis))
    for group in neighbours(name, value) if candidates is None else (candidates,):
        for near in group:
            other = with_values(analysis, {pointer: near})
            if other.built.tree is None or (shape_problems(other) and not broken):
                continue
            found = numbers(other, present.context, cache_dtype)
            if found is not None:
                rows.append(Variant(near, found))
        if len(rows) > 1:
            break
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
    return Variants(tuple(sorted(rows, key=_order)), varies)


def _order(row: Variant) -> tuple[bool, float, str]:
    is_number = isinstance(row.value, int | float)
    return (not is_number, float(row.value) if isinstance(row.value, int | float) else 0.0, str(row.value))


def shape_problems(analysis: Analysis) -> list[str]:
    """Widths that would not fit together."""
    from neurarch_schemas.modules.tree import walk

    tree = analysis.built.tree
    return [problem.message for visit in walk(tree) for problem in visit.module.problems] if tree else []
