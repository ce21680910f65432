"""A value outside the damage is never misread: one token deleted, inserted or replaced."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.documents.pointer import split_pointer
from tests.documents.samples import DECODER, NESTED, compact, layouts

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}\[\]:,]')
ADDED = ["{", "}", "[", "]", ":", ",", '"zzz"', '"hidden_size"', "7", "true", "null"]
ABSENT = object()


def pairs(document: JsonDocument, pointer: str = "") -> list[tuple[str, tuple[int, int]]]:
    found = []
    container = document.container(pointer)
    for key in document.keys(pointer):
        below = f"{pointer}/{key}"
        span = document.pair_span(below)
        if container is not None and container.kind == "object" and span is not None:
            found.append((below, span))
        found += pairs(document, below)
    return found


def value_at(data: Any, pointer: str) -> Any:
    for key in split_pointer(pointer):
        if isinstance(data, dict):
            data = data.get(key, ABSENT)
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return ABSENT
    return data


def outside(document: JsonDocument, start: int, end: int) -> list[str]:
    """Pairs with a plain value that neither the damage nor the pairs beside it hold."""
    every = pairs(document)
    touched = [pointer for pointer, span in every if span[0] - 1 <= end and start <= span[1] + 1]
    inner = [one for one in touched if not any(two.startswith(one + "/") for two in touched)]
    return [
        pointer
        for pointer, _ in every
        if pointer not in touched
        and not any(pointer.startswith(one + "/") for one in inner)
        and not isinstance(value_at(document.data, pointer), dict | list)
    ]


def damaged(text: str, choose: st.DataObject) -> tuple[str, int, int] | None:
    tokens = list(TOKEN.finditer(text))
    start, end = choose.draw(st.sampled_from([token.span() for token in tokens]))
    kind = choose.draw(st.sampled_from(["delete", "before", "behind", "replace"]))
    added = "" if kind == "delete" else choose.draw(st.sampled_from(ADDED))
    if kind == "before":
        end, added = start, added + " "
    elif kind == "behind":
        start, added = end, " " + added
    changed = text[:start] + added + text[end:]
    try:
        json.loads(changed)
    except ValueError:
        return changed, start, end
    return None


@pytest.mark.parametrize("text", layouts(DECODER)[:3] + layouts(NESTED))
@given(choose=st.data())
@settings(max_examples=100, deadline=None)
def test_pairs_outside_the_damage_keep_their_values(text: str, choose: st.DataObject) -> None:
    document = JsonDocument.parse(text)
    damage = damaged(text, choose)
    if damage is None:
        return
    changed, start, end = damage
    read = JsonDocument.parse(changed)
    assert read.problems
    for pointer in outside(document, start, end):
        assert value_at(read.data, pointer) == value_at(document.data, pointer), pointer


@pytest.mark.parametrize("text", compact(DECODER))
@given(choose=st.data())
@settings(max_examples=100, deadline=None)
def test_on_one_line_no_value_of_another_pair_is_taken(text: str, choose: st.DataObject) -> None:
    """Where brackets are missing on one line, keys may be lost, but none gets a value that is not its own."""
    document = JsonDocument.parse(text)
    damage = damaged(text, choose)
    if damage is None:
        return
    changed, start, end = damage
    read = JsonDocument.parse(changed)
    assert read.problems
    for pointer in outside(document, start, end):
        assert value_at(read.data, pointer) in (value_at(document.data, pointer), ABSENT), pointer


@pytest.mark.parametrize("text", [layouts(NESTED)[0]])
def test_each_single_bracket_may_be_missing(text: str) -> None:
    document = JsonDocument.parse(text)
    for token in re.finditer(r"[\[\]{}]", text):
        start, end = token.span()
        read = JsonDocument.parse(text[:start] + text[end:])
        assert 1 <= len(read.problems) <= 4, read.problems
        for pointer in outside(document, start, end):
            assert value_at(read.data, pointer) == value_at(document.data, pointer), (start, pointer)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{\n  "a": {\n    "x": 1,\n  "b": 2\n}\n', {"a": {"x": 1}, "b": 2}),
        ('{\n  "a":\n    "x": 1\n  },\n  "b": 2\n}\n', {"a": {"x": 1}, "b": 2}),
        ('{\n  "a": [\n    1,\n    2,\n  "b": 2\n}\n', {"a": [1, 2], "b": 2}),
        ('{\n  "a": {"x": 1,\n  "b": 2\n}\n', {"a": {"x": 1}, "b": 2}),
        ('{\n  "a: {\n    "x": 1\n  },\n  "b": 2\n}\n', {"a": {"x": 1}, "b": 2}),
        ('{\n  "a": {\n    "x": 1}\n  },\n  "b": 2\n}\n', {"a": {"x": 1}, "b": 2}),
        ('{\n  "a": [\n    1\n  },\n  "b": 2\n}\n', {"a": [1], "b": 2}),
    ],
)
def test_the_layout_tells_which_object_a_line_belongs_to(text: str, value: Any) -> None:
    assert JsonDocument.parse(text).data == value


def test_a_misindented_file_with_sound_brackets_is_read_by_its_brackets() -> None:
    text = '{\n  "a": {\n    "x": 1,\n  "y": 2\n  },\n  "b": 3, // comment\n}\n'
    assert JsonDocument.parse(text).data == {"a": {"x": 1, "y": 2}, "b": 3}


@pytest.mark.parametrize("typed", ["}}", "}}}", "}]", "] }", "}"])
def test_closers_in_place_of_a_value_end_nothing_around_it(typed: str) -> None:
    """As when the opening bracket of an empty object is overwritten: the keys below stay the outer object's."""
    before = json.dumps({"model_type": "llama", "inner": {"weights": {}, "a": 1}, "weights": {}, "last": 2}, indent=2)
    for place in ('  "weights": {}', '    "weights": {}'):
        assert place in before
        start = before.index("\n" + place) + 1 + place.index("{")
        found = JsonDocument.parse(before[:start] + typed + before[start + 2 :], "config.json").data
        assert isinstance(found, dict)
        assert found["last"] == 2
        assert found["inner"]["a"] == 1
