"""Places of findings in whichever kind of document was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.engine.locate import span_of
from neurarch_schemas.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from neurarch_rules.engine.finding import Place
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.documents.python_document import PythonDocument


def span_in(place: Place, document: JsonDocument | PythonDocument) -> Span:
    """The start of the file for a finding about the whole of a Python file."""
    if isinstance(document, JsonDocument):
        return span_of(place, document)
    return place.span if place.span is not None else (0, 0)
