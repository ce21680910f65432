"""Where a finding is shown."""

from __future__ import annotations

import pytest

from neurarch_rules.engine.finding import Place
from neurarch_rules.engine.locate import span_of
from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.documents.python_document import PythonDocument


@pytest.mark.parametrize("pointer", ["", None, "/a"])
def test_a_place_without_a_span_is_shown_at_the_beginning_of_python_code(pointer: str | None) -> None:
    assert span_of(Place(pointer=pointer), PythonDocument.parse("x = 1\n")) == (0, 0)


@pytest.mark.parametrize("text", ["", "{", "[1", '{"a": 1}', "<html>"])
@pytest.mark.parametrize("pointer", ["", None, "/a", "/b/c"])
def test_every_place_has_a_span_inside_any_text(text: str, pointer: str | None) -> None:
    start, end = span_of(Place(pointer=pointer), JsonDocument.parse(text))
    assert 0 <= start <= end <= len(text)
