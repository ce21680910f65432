"""Two models side by side: every written field, the derived numbers, and the differences of structure in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from neurarch_lsp.card.build import name_of
from neurarch_lsp.card.mix import layer_mix
from neurarch_lsp.card.profile import Profile, attention_label, profile
from neurarch_lsp.card.sections.fields import compact
from neurarch_lsp.card.sections.head import (
    experts,
    norm,
    positions,
    quantization,
    scale,
    selection,
    text_norm_place,
    windows,
)
from neurarch_lsp.render.card_blocks import Block, Card, Note, Section, Table
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.config.language_model import language_config
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONValue

SHOWN = 40
"""Characters of a value; longer ones are cut."""

ABOUT = 0.05
"""Ratios within 5 % of one are "about 1"."""


class Line(Record):
    """``a`` and ``b`` as shown, None where the key is absent; ``values`` are those of the sides that have it."""

    key: str
    a: str | None
    b: str | None
    ratio: str
    values: Mapping[str, JSONValue]


def compare(name_a: str, a: Analysis, name_b: str, b: Analysis) -> Card:
    titles = (name_of(name_a), name_of(name_b))
    if titles[0] == titles[1]:
        titles = (name_a, name_b)
    derived, fields, words = derived_lines(a, b), field_lines(a, b), differences(a, b)
    sections = [
        Section("derived", "Derived", (_table(derived, titles),), {"lines": _data(derived)}),
        Section(
            "structure",
            "Differences of structure",
            tuple(Note(sentence) for sentence in words) or (Note("None: the same structure.", "good"),),
            {"differences": words},
        ),
        Section("fields", "Fields", _field_blocks(fields, titles), {"lines": _data(fields)}),
    ]
    return Card(f"{titles[0]} against {titles[1]}", f"{_kind(a)} against {_kind(b)}", tuple(sections))


def field_lines(a: Analysis, b: Analysis) -> list[Line]:
    """The union of the written fields, nested objects opened."""
    left, right = _flat(a.document.data), _flat(b.document.data)
    return [
        Line(
            key,
            compact(left[key], SHOWN) if key in left else None,
            compact(right[key], SHOWN) if key in right else None,
            ratio_of(left[key], right[key]) if key in left and key in right else "absent",
            {side: values[key] for side, values in (("a", left), ("b", right)) if key in values},
        )
        for key in sorted(left.keys() | right.keys())
    ]


def derived_lines(a: Analysis, b: Analysis) -> list[Line]:
    left, right = _derived(a), _derived(b)
    return [
        Line(
            key,
            None if (x := left.get(key)) is None else f"{x:,}",
            None if (y := right.get(key)) is None else f"{y:,}",
            "absent" if x is None or y is None else ratio_of(x, y),
            {side: value for side, value in (("a", x), ("b", y)) if value is not None},
        )
        for key in left
        if left.get(key) is not None or right.get(key) is not None
    ]


def ratio_of(a: JSONValue, b: JSONValue) -> str:
    """ "=", "about 1", "x0.500" (A / B), or "different" where a ratio says nothing."""
    if a == b and isinstance(a, bool) == isinstance(b, bool):
        return "="
    numbers = [value for value in (a, b) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < 2 or not numbers[1] or not numbers[0]:
        return "different"
    ratio = numbers[0] / numbers[1]
    if abs(ratio - 1) < ABOUT:
        return "about 1"
    return f"x{ratio:.3f}" if abs(ratio) < 1 else f"x{ratio:,.2f}"


def differences(a: Analysis, b: Analysis) -> list[str]:
    left, right = profile(a), profile(b)
    if left is None or right is None:
        reason = a.built.reason if left is None else b.built.reason
        return [f"The structure of one side is not known: {reason}."]
    lines = [
        f"{label}: {x or 'none'} against {y or 'none'}."
        for label, x, y in (
            ("Kind", left.kind, right.kind),
            ("Attention", attention_label(left), attention_label(right)),
            ("Layers", layer_mix(a), layer_mix(b)),
            ("Window", windows(left.windows), windows(right.windows)),
            ("Selection", selection(left), selection(right)),
            ("Experts", experts(left), experts(right)),
            ("Positions", _positions(a, left), _positions(b, right)),
            ("Norm", _norm(a, left), _norm(b, right)),
            ("Scale", _scale(a), _scale(b)),
            ("Quantization", _quantization(a), _quantization(b)),
        )
        if x != y
    ]
    names = [{concept.name: concept.label for concept in side.concepts} for side in (left, right)]
    only = [[label for name, label in mine.items() if name not in other] for mine, other in (names, names[::-1])]
    lines += [
        f"Only {which} has: {', '.join(labels)}." for which, labels in zip(("A", "B"), only, strict=True) if labels
    ]
    return lines


def _derived(analysis: Analysis) -> dict[str, int | None]:
    counted, cache, cost, config = analysis.parameters, analysis.kv_cache, analysis.forward_cost, analysis.config
    dtype = analysis.cache_dtype()
    return {
        "parameters": counted.total if counted else None,
        "active parameters": counted.active if counted else None,
        "stored scalars": counted.stored if counted else None,
        "weight bytes": analysis.weights.bytes if analysis.weights else None,
        "KV cache bytes per token": size_in_bytes(cache.per_token, dtype) if cache else None,
        "constant state bytes": size_in_bytes(cache.constant, dtype) or None if cache else None,
        "FLOPs per token, matrices": cost.per_token or None if cost else None,
        "FLOPs to decode after 8,192 tokens": cost.decode(8192) or None if cost else None,
        "context": declared_context(config) if config else None,
    }


def _flat(data: JSONValue, prefix: str = "") -> dict[str, JSONValue]:
    if not isinstance(data, dict):
        return {}
    found: dict[str, JSONValue] = {}
    for key, value in data.items():
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict) and value and len(value) <= 200:
            found |= _flat(value, name)
        else:
            found[name] = value
    return found


def _table(lines: list[Line], titles: tuple[str, str]) -> Table:
    rows = tuple((line.key, line.a or "absent", line.b or "absent", line.ratio) for line in lines)
    return Table(("key", f"A: {titles[0]}", f"B: {titles[1]}", "A / B"), rows, numeric=frozenset({1, 2, 3}))


def _field_blocks(lines: list[Line], titles: tuple[str, str]) -> tuple[Block, ...]:
    same = sum(line.ratio == "=" for line in lines)
    return (Note(f"{len(lines)} fields, {same} of them equal."), _table(lines, titles))


def _data(lines: list[Line]) -> list[dict[str, JSONValue]]:
    """Values as they are, not as shown; a side that lacks the key is left out."""
    return [{"key": line.key, **line.values, "ratio": line.ratio} for line in lines]


def _kind(analysis: Analysis) -> str:
    return analysis.config.model_type or "unknown type" if analysis.config else analysis.kind


def _positions(analysis: Analysis, found: Profile) -> str | None:
    return positions(language_config(analysis.config), found) if analysis.config else None


def _norm(analysis: Analysis, found: Profile) -> str | None:
    text = language_config(analysis.config) if analysis.config else None
    return norm(text, found, text_norm_place(analysis, text)) if text is not None else None


def _scale(analysis: Analysis) -> str | None:
    return scale(analysis.parameters) if analysis.parameters else None


def _quantization(analysis: Analysis) -> str | None:
    return quantization(analysis.config) if analysis.config else None
