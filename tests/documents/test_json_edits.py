from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurarch_schemas.documents import json_edits
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.json_document import JsonDocument
from tests.documents.samples import DECODER, NESTED, compact, layouts

ALL_LAYOUTS = [text for value in (DECODER, NESTED) for text in layouts(value) + compact(value)]
NEW_VALUES = [7, "é", None, [1, 2], {"k": {"l": []}}, [], {}, [{"a": 1}]]


def pointers(value: Any, pointer: str = "") -> list[str]:
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += [f"{pointer}/{key}", *pointers(item, f"{pointer}/{key}")]
    return found


def at(value: Any, pointer: str) -> Any:
    for key in pointer.split("/")[1:]:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def parent(value: Any, pointer: str) -> tuple[Any, Any]:
    holder, _, key = pointer.rpartition("/")
    container = at(value, holder)
    return container, int(key) if isinstance(container, list) else key


def apply(text: str, edits: tuple[TextEdit, ...]) -> str:
    """Applies edits, checking that they are in order, apart, and no larger than they need to be."""
    last = -1
    for edit in edits:
        assert last <= edit.span[0] <= edit.span[1] <= len(text)
        last = edit.span[1]
    return json_edits.apply_edits(text, edits)


def assert_style_is_kept(before: str, after: str) -> None:
    assert ("\r\n" in after) == ("\r\n" in before)
    assert after.count("\n") == after.count("\r\n") or "\r\n" not in before
    assert after.endswith("\n") == before.endswith("\n")
    if "\n" not in before.strip():
        assert "\n" not in after.strip()
    if "\t" in before:
        assert "\n " not in after
    for line in after.splitlines():
        assert line == line.rstrip()


@pytest.mark.parametrize("text", ALL_LAYOUTS)
def test_removing_each_pair_leaves_the_file_as_it_would_have_been_written(text: str) -> None:
    value = json.loads(text)
    document = JsonDocument.parse(text)
    for pointer in pointers(value):
        expected = copy.deepcopy(value)
        container, key = parent(expected, pointer)
        del container[key]
        after = apply(text, json_edits.remove_pair(document, pointer))
        assert json.loads(after) == expected, pointer
        assert_style_is_kept(text, after)
        for same in (layouts, compact):
            for before, written in zip(same(value), same(expected), strict=True):
                if before == text:
                    assert after == written, pointer


@pytest.mark.parametrize("text", ALL_LAYOUTS)
@given(choose=st.data())
@settings(max_examples=60, deadline=None)
def test_each_edit_gives_the_value_asked_for_in_the_files_own_layout(text: str, choose: st.DataObject) -> None:
    value = json.loads(text)
    document = JsonDocument.parse(text)
    expected = copy.deepcopy(value)
    pointer = choose.draw(st.sampled_from(pointers(value)))
    new = choose.draw(st.sampled_from(NEW_VALUES))
    container, key = parent(expected, pointer)
    kind = choose.draw(st.sampled_from(["replace", "rename", "insert", "append", "before", "deep"]))
    if kind == "replace":
        edits = json_edits.replace_value(document, pointer, new)
        container[key] = new
    elif kind == "deep":
        if not isinstance(container, dict):
            return
        holder = pointer.rpartition("/")[0]
        edits = json_edits.set_value(document, f"{holder}/one/two/three", new)
        container["one"] = {"two": {"three": new}}
    elif isinstance(container, list):
        edits = json_edits.insert_element(document, pointer.rpartition("/")[0], key, new)
        container.insert(key, new)
    elif kind == "rename":
        edits = json_edits.rename_key(document, pointer, 'new "key" ü')
        container['new "key" ü'] = container.pop(key)
    else:
        holder = pointer.rpartition("/")[0]
        where = {"insert": {"after": key}, "append": {}, "before": {"before": key}}[kind]
        edits = json_edits.insert_pair(document, holder, "inserted", new, **where)
        container["inserted"] = new
    after = apply(text, edits)
    assert json.loads(after) == expected
    assert_style_is_kept(text, after)


@pytest.mark.parametrize("text", layouts(DECODER) + compact(DECODER))
def test_a_pair_inserted_at_the_end_is_as_if_written_with_the_file(text: str) -> None:
    value = json.loads(text)
    document = JsonDocument.parse(text)
    after = json_edits.apply_edits(
        text, json_edits.set_value(document, "/rope_parameters", {"rope_theta": 1e6, "l": [1]})
    )
    written = {**value, "rope_parameters": {"rope_theta": 1e6, "l": [1]}}
    assert after in layouts(written) + compact(written)


def test_the_place_of_an_inserted_pair() -> None:
    text = '{\n  "a": 1,\n  "b": {"x": 1},\n  "c": []\n}\n'
    document = JsonDocument.parse(text)
    assert apply(text, json_edits.insert_pair(document, "", "n", 2, after="a")) == text.replace(
        '"a": 1,', '"a": 1,\n  "n": 2,'
    )
    assert apply(text, json_edits.insert_pair(document, "", "n", 2, before="a")) == text.replace(
        '"a": 1,', '"n": 2,\n  "a": 1,'
    )
    assert apply(text, json_edits.insert_pair(document, "/b", "n", [2])) == text.replace('"x": 1', '"x": 1, "n": [2]')
    assert apply(text, json_edits.insert_element(document, "/c", 0, 5)) == text.replace("[]", "[\n    5\n  ]")


def test_a_value_that_is_null_makes_room_for_an_object() -> None:
    text = '{\n  "rope_scaling": null,\n  "a": 3\n}\n'
    after = apply(text, json_edits.set_value(JsonDocument.parse(text), "/rope_scaling/factor", 2.0))
    assert after == '{\n  "rope_scaling": {\n    "factor": 2.0\n  },\n  "a": 3\n}\n'
    assert json_edits.set_value(JsonDocument.parse(text), "/a/b", 2) == ()


@pytest.mark.parametrize(
    ("pointer", "target", "expected"),
    [
        ("/theta", "/rope", {"rope": {"type": "x", "theta": 10000.0}, "sizes": [1, 2], "z": None}),
        (
            "/theta",
            "/made/deep",
            {"rope": {"type": "x"}, "sizes": [1, 2], "z": None, "made": {"deep": {"theta": 10000.0}}},
        ),
        ("/theta", "/z", {"rope": {"type": "x"}, "sizes": [1, 2], "z": {"theta": 10000.0}}),
        ("/rope/type", "", {"theta": 10000.0, "rope": {}, "sizes": [1, 2], "z": None, "type": "x"}),
        ("/z", "/rope", {"theta": 10000.0, "rope": {"type": "x", "z": None}, "sizes": [1, 2]}),
        ("/sizes", "/rope", {"theta": 10000.0, "rope": {"type": "x", "sizes": [1, 2]}, "z": None}),
    ],
)
def test_a_pair_moves_with_its_spelling(pointer: str, target: str, expected: Any) -> None:
    value = {"theta": 10000.0, "rope": {"type": "x"}, "sizes": [1, 2], "z": None}
    for text in layouts(value) + compact(value):
        text = text.replace("10000.0", "1e4")
        after = apply(text, json_edits.move_pair(JsonDocument.parse(text), pointer, target))
        assert json.loads(after) == expected
        assert_style_is_kept(text, after)
        assert "1e4" in after
        plain = after.replace("1e4", "10000.0")
        assert plain in layouts(expected) + compact(expected)


def test_moving_to_the_object_it_is_in_renames_and_into_itself_does_nothing() -> None:
    text = '{"a": {"b": 1}, "c": 2}'
    document = JsonDocument.parse(text)
    assert apply(text, json_edits.move_pair(document, "/c", "", "d")) == '{"a": {"b": 1}, "d": 2}'
    assert json_edits.move_pair(document, "/a", "/a") == ()
    assert json_edits.move_pair(document, "/c", "/a", "b") == ()


def test_comments_stay_with_the_pairs_they_stand_beside() -> None:
    text = '{\n  "a": 1, // one\n  // about b\n  "b": 2 // two\n}\n'
    document = JsonDocument.parse(text, "x.jsonc")
    assert apply(text, json_edits.insert_pair(document, "", "n", 3)) == (
        '{\n  "a": 1, // one\n  // about b\n  "b": 2, // two\n  "n": 3\n}\n'
    )
    assert apply(text, json_edits.insert_pair(document, "", "n", 3, after="a")) == (
        '{\n  "a": 1, // one\n  "n": 3,\n  // about b\n  "b": 2 // two\n}\n'
    )
    assert apply(text, json_edits.remove_pair(document, "/a")) == '{\n  // about b\n  "b": 2 // two\n}\n'
    assert apply(text, json_edits.remove_pair(document, "/b")) == '{\n  "a": 1 // one\n  // about b\n}\n'


def test_one_of_several_equal_keys_is_removed_by_its_place() -> None:
    text = '{\n  "a": 1,\n  "b": 2,\n  "a": 3\n}\n'
    document = JsonDocument.parse(text)
    (problem,) = document.problems
    assert problem.related is not None
    assert apply(text, json_edits.remove_pair_at(document, problem.related[0])) == '{\n  "b": 2,\n  "a": 3\n}\n'
    assert apply(text, json_edits.remove_pair_at(document, problem.span[0])) == '{\n  "a": 1,\n  "b": 2\n}\n'


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ('{"a": [1, 2,],}', '{"a": [1, 2]}'),
        ('{"a": True, "b": None}', '{"a": true, "b": null}'),
        ("{'a': 'it is'}", '{"a": "it is"}'),
        ("{a: 1}", '{"a": 1}'),
        ('{"a": 1 "b": 2}', '{"a": 1, "b": 2}'),
        ('{"a": 1\n  "b": [1 2]}', '{"a": 1,\n  "b": [1, 2]}'),
        ('{"a" 1}', '{"a": 1}'),
        ('{"a" = 1; “b”: “x”}', '{"a": 1, "b": "x"}'),
        ('{"a": .5, "b": 5., "c": 007, "d": +1, "e": 1_000}', '{"a": 0.5, "b": 5.0, "c": 7, "d": 1, "e": 1000}'),
        ('{"a": "C:\\models"}', '{"a": "C:\\\\models"}'),
        ('{"a": "x\ty"}', '{"a": "x\\ty"}'),
        ('\ufeff{"a": 1,, "b": 2}', '{"a": 1, "b": 2}'),
    ],
)
def test_the_fixes_of_problems_make_the_file_sound(text: str, repaired: str) -> None:
    problems = JsonDocument.parse(text).problems
    fixes = [problem.fix for problem in problems if problem.fix is not None]
    after = json_edits.apply_edits(text, fixes)
    assert json.loads(after) == json.loads(repaired)
    assert JsonDocument.parse(json_edits.apply_edits(text, fixes)).problems == ()


@pytest.mark.parametrize("text", ['{"a": ', '{"a": 1', '{"a" }', "", "<html>", '{"a": 1, "b": '])
def test_damaged_places_are_not_edited(text: str) -> None:
    document = JsonDocument.parse(text)
    for edits in (
        json_edits.insert_pair(document, "", "n", 1),
        json_edits.set_value(document, "/b", 1),
        json_edits.replace_value(document, "/b", 1),
        json_edits.rename_key(document, "/c", "d"),
        json_edits.remove_pair(document, "/c"),
    ):
        assert edits == ()


@pytest.mark.parametrize("text", ALL_LAYOUTS)
def test_a_list_is_cut_to_its_first_elements(text: str) -> None:
    document = JsonDocument.parse(text)
    value = json.loads(text)
    for pointer in pointers(value):
        elements = at(value, pointer)
        for length in range(1, len(elements) if isinstance(elements, list) else 0):
            expected = copy.deepcopy(value)
            del at(expected, pointer)[length:]
            after = apply(text, json_edits.truncate(document, pointer, length))
            assert json.loads(after) == expected
            assert_style_is_kept(text, after)


def test_comments_of_elements_that_stay_stay() -> None:
    text = '{"a": [\n  1, // one\n  2, // two\n  3 // three\n]}'
    after = apply(text, json_edits.truncate(JsonDocument.parse(text), "/a", 1))
    assert after == '{"a": [\n  1 // one\n   // three\n]}'
