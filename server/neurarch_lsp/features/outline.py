"""The outline of a JSON file: symbols, folds and growing selections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from neurarch_lsp.features.poll import Poll, never
from neurarch_lsp.render.key_facts import configs, value_text
from neurarch_lsp.render.layers import layer_runs
from neurarch_schemas.documents.pointer import join_pointer, parent_pointer

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.documents.json_document import Container, JsonDocument

SymbolKind = Literal["object", "list", "string", "number", "boolean", "null", "layers"]
MAX_SYMBOLS = 3_000
MAX_FOLDS = 5_000
LAYER_KEYS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")


@dataclass(frozen=True, slots=True)
class Symbol:
    """``span`` is the pair, ``name_span`` its key (inside ``span``)."""

    name: str
    detail: str
    kind: SymbolKind
    span: Span
    name_span: Span
    children: tuple[Symbol, ...] = ()


def symbols(document: JsonDocument, analysis: Analysis | None, poll: Poll = never) -> tuple[Symbol, ...]:
    """The keys of the document, objects with their children; lists are one symbol. At most ``MAX_SYMBOLS``."""
    budget = [MAX_SYMBOLS]
    layered = _layer_symbols(analysis) if analysis is not None else {}
    root = document.container("")
    return tuple(_symbols(document, root, "", budget, layered, poll)) if root is not None else ()


def _symbols(
    document: JsonDocument,
    container: Container,
    pointer: str,
    budget: list[int],
    layered: dict[str, tuple[Symbol, ...]],
    poll: Poll,
) -> Iterator[Symbol]:
    if container.kind != "object":
        return
    members = list(zip(container.members, container.starts, strict=True))[: max(0, budget[0])]
    # All members of an object come before what is inside them.
    budget[0] -= len(members)
    for at, (member, start) in enumerate(members):
        if member.key is None:
            continue
        poll()
        begin = container.start + start
        inner = join_pointer(pointer, member.key)
        below = document.inner(container, at) if isinstance(member.value, dict) else None
        children = layered.get(inner, ()) if below is None else _symbols(document, below, inner, budget, layered, poll)
        yield Symbol(
            name=member.key or '""',
            detail=_detail(member.value) if member.value_length >= 0 else "",
            kind=_kind(member.value),
            span=(begin, begin + member.length),
            name_span=(begin, begin + member.key_length),
            children=tuple(children),
        )


def _layer_symbols(analysis: Analysis) -> dict[str, tuple[Symbol, ...]]:
    """The layer structure, below the key that says how many layers there are."""
    runs = layer_runs(analysis)
    if not runs or analysis.config is None:
        return {}
    total = runs[-1].last + 1 - runs[0].first
    for config in configs(analysis.config):
        for key in LAYER_KEYS:
            setting = config.setting(key)
            if setting is None or setting.pointer is None or setting.value != total:
                continue
            span, key_span = analysis.document.pair_span(setting.pointer), analysis.document.key_span(setting.pointer)
            if span is None or key_span is None:
                continue
            return {
                setting.pointer: tuple(
                    Symbol(
                        f"layer {run.first}" if run.first == run.last else f"layers {run.first}-{run.last}",
                        run.text,
                        "layers",
                        span,
                        key_span,
                    )
                    for run in runs
                )
            }
    return {}


def _kind(value: object) -> SymbolKind:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "list"
    if isinstance(value, str):
        return "string"
    return "null" if value is None else "number"


def _detail(value: object) -> str:
    if isinstance(value, dict):
        return f"{len(value)} keys"
    if isinstance(value, list) and len(value) > 4:
        return f"{len(value)} entries"
    return value_text(value, 40)


def folds(document: JsonDocument, limit: int | None = None, poll: Poll = never) -> list[tuple[int, int]]:
    """First and last line of every object and list that spans lines; the innermost ones go first when there are
    more than ``limit``."""
    most = min(MAX_FOLDS, limit) if limit is not None else MAX_FOLDS
    root = document.container("")
    if root is None:
        return []
    found: set[tuple[int, int]] = set()
    for fold in _folds(document, root, poll):
        if len(found) >= most:
            break
        found.add(fold)
    return sorted(found)


def _folds(document: JsonDocument, root: Container, poll: Poll) -> Iterator[tuple[int, int]]:
    """Level by level, outermost first."""
    outermost = _lines(document, (root.start, root.end))
    if outermost[1] > outermost[0]:
        yield outermost
    level = [root]
    while level:
        below: list[Container] = []
        for container in level:
            for at, (member, start) in enumerate(zip(container.members, container.starts, strict=True)):
                if not isinstance(member.value, dict | list):
                    continue
                poll()
                begin = container.start + start + member.value_start
                first, last = _lines(document, (begin, begin + member.value_length))
                if last == first:
                    continue
                yield first, last
                inner = document.inner(container, at) if _is_nested(member.value) else None
                if inner is not None:
                    below.append(inner)
        level = below


def _is_nested(value: object) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(each, dict | list) for each in inside)


def _lines(document: JsonDocument, span: Span) -> tuple[int, int]:
    return document.lines.line_of(span[0]), document.lines.line_of(max(span[0], span[1] - 1))


def selections(document: JsonDocument, offset: int) -> tuple[Span, ...]:
    """Spans around ``offset``, each inside the next: word, value, pair, inside of the object, object, and so on."""
    place = document.pointer_at(offset)
    found: list[Span] = []
    pointer = place.pointer
    span = document.key_span(pointer) if place.part == "key" else document.value_span(pointer)
    if place.part in ("key", "value") and span is not None:
        if document.text[span[0] : span[0] + 1] == '"' and span[0] < offset < span[1]:
            found.append((span[0] + 1, span[1] - 1))
        found.append(span)
    elif place.part in ("object", "array"):
        found += _inside(document, pointer)
    while True:
        for outer in (document.value_span(pointer), document.pair_span(pointer)):
            if outer is not None:
                found.append(outer)
        if pointer == "":
            break
        pointer = parent_pointer(pointer)
        found += _inside(document, pointer)
    found.append((0, len(document.text)))
    nested: list[Span] = []
    for span in found:
        if span[0] <= offset <= span[1] and (
            not nested or (span[0] <= nested[-1][0] and nested[-1][1] <= span[1] and span != nested[-1])
        ):
            nested.append(span)
    return tuple(nested)


def _inside(document: JsonDocument, pointer: str) -> list[Span]:
    span = document.value_span(pointer)
    if span is None or span[1] - span[0] < 2:
        return []
    return [(span[0] + 1, span[1] - 1)]
