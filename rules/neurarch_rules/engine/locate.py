"""Places to source ranges: the narrowest span that shows what a finding is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.engine.finding import Place
from neurarch_schemas.documents.document import Span
from neurarch_schemas.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_document import PythonDocument


def span_of(place: Place, document: JsonDocument | PythonDocument) -> Span:
    """The span of a place inside ``document``; an absent key is shown at the nearest thing that is written."""
    if place.span is not None:
        return place.span
    pointer = place.pointer
    if pointer is None or not isinstance(document, JsonDocument):
        return (0, 0)
    found: Span | None
    if place.on == "key":
        found = document.key_span(pointer) or document.value_span(pointer)
    elif place.on == "pair":
        found = document.pair_span(pointer) or document.value_span(pointer)
    else:
        found = document.value_span(pointer)
        if found is not None and _is_container(document.text, found):
            found = document.key_span(pointer) or (found[0], found[0] + 1)
    if pointer == "" and found is not None:
        return (found[0], found[0] + 1) if found[1] > found[0] else found
    return found if found is not None else document.nearest_span(pointer)


def _is_container(text: str, span: Span) -> bool:
    """An object or a long list is shown by its key: a range of many lines helps nobody."""
    return text[span[0] : span[0] + 1] in ("{", "[") and "\n" in text[span[0] : span[1]]
