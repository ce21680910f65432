from __future__ import annotations

import gc
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.json_document import JsonDocument, Place
from neurarch_schemas.documents.line_index import LineIndex
from tests.documents.samples import DECODER, NESTED, compact, layouts, published

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def messages(text: str, uri: str = "config.json") -> list[str]:
    return [f"{problem.rule}: {problem.message}" for problem in JsonDocument.parse(text, uri).problems]


def only(text: str) -> tuple[str, str, str, str]:
    """Rule, message, marked text and pointer of the one problem of a text."""
    (problem,) = JsonDocument.parse(text, "config.json").problems
    return problem.rule, problem.message, text[slice(*problem.span)], problem.pointer


@given(VALUES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_sound_json_reads_as_the_standard_library_does(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = JsonDocument.parse(text)
    assert document.problems == ()
    assert repr(document.data) == repr(json.loads(text))


@pytest.mark.skipif(not published(), reason="the published configurations are not at hand")
def test_published_files_read_as_the_standard_library_does() -> None:
    for path in published(5_000_000):
        text = path.read_text(encoding="utf-8")
        document = JsonDocument.parse(text)
        assert repr(document.data) == repr(json.loads(text)), path.name
        assert {problem.rule for problem in document.problems} <= {"json-nonfinite"}, path.name


def check_places(document: JsonDocument, value: Any, pointer: str = "") -> None:
    span = document.value_span(pointer)
    assert span is not None
    assert json.loads(document.text[slice(*span)]) == value
    if isinstance(value, dict):
        assert document.keys(pointer) == tuple(value)
        for key, item in value.items():
            below = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            key_span = document.key_span(below)
            assert key_span is not None
            assert json.loads(document.text[slice(*key_span)]) == key
            check_places(document, item, below)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            check_places(document, item, f"{pointer}/{at}")


@given(VALUES, st.sampled_from([None, 2]))
def test_every_value_and_key_knows_its_place(value: Any, indent: int | None) -> None:
    check_places(JsonDocument.parse(json.dumps(value, indent=indent)), value)


@pytest.mark.parametrize("text", [text for value in (DECODER, NESTED) for text in layouts(value) + compact(value)])
def test_places_in_each_layout(text: str) -> None:
    check_places(JsonDocument.parse(text), json.loads(text))


def test_pointers_escape_slash_and_tilde() -> None:
    document = JsonDocument.parse('{"a/b": {"m~n": [10, 20]}}')
    assert document.spelled("/a~1b/m~0n/1") == "20"
    assert document.value_span("/a~1b/m~0n/01") is None
    assert document.value_span("/a~1b/m~0n/2") is None
    assert document.value_span("/a~1b/m~0n/1/x") is None


def test_spelling_and_spans_of_a_pair() -> None:
    text = '{"x": 1.50e-05,\n "y" : [1]}'
    document = JsonDocument.parse(text)
    assert document.spelled("/x") == "1.50e-05"
    assert document.pair_span("/y") == (17, 26)
    assert document.nearest_span("/y/0") == (24, 25)
    assert document.nearest_span("/y/7") == document.key_span("/y")
    assert document.nearest_span("/absent") == (0, 1)


@pytest.mark.parametrize(
    ("marked", "place"),
    [
        ('{"a|": 1}', Place("/a", "key")),
        ('{"a": |1}', Place("/a", "value")),
        ('{"a": 1|}', Place("/a", "value")),
        ('{"a":| 1}', Place("/a", "key")),
        ('{"a": 1, | "b": 2}', Place("", "object")),
        ('{"a": {"b": [1, |2]}}', Place("/a/b/1", "value")),
        ('{"a": {"b": [1, | 2]}}', Place("/a/b", "array")),
        ('{"a": {| "b": 1}}', Place("/a", "object")),
        ('{"a": {"b": 1}, "c" |}', Place("", "object")),
        (' | {"a": 1}', Place("", "outside")),
        ('{"a": 1} | ', Place("", "outside")),
        ("{|}", Place("", "object")),
    ],
)
def test_what_stands_at_an_offset(marked: str, place: Place) -> None:
    offset = marked.index("|")
    assert JsonDocument.parse(marked.replace("|", "")).pointer_at(offset) == place


@pytest.mark.parametrize(
    ("text", "rule", "part", "marked", "pointer"),
    [
        ('{"a": 1,}', "json-syntax", "trailing comma", ",", ""),
        ('{"a": [1, 2,]}', "json-syntax", "trailing comma", ",", "/a"),
        ('{"a": 1 "b": 2}', "json-syntax", "comma is missing", '"b"', "/b"),
        ('{"a": [1 2]}', "json-syntax", "comma is missing", "2", "/a"),
        ('{"a": 1,, "b": 2}', "json-syntax", "comma too many", ",", ""),
        ('{"a" 1}', "json-syntax", "colon is missing", '"a"', "/a"),
        ('{"a": , "b": 2}', "json-syntax", "has no value", '"a"', "/a"),
        ('{"a"}', "json-syntax", "has no value", '"a"', "/a"),
        ("{'a': 1}", "json-syntax", "double quotes", "'a'", "/a"),
        ("{\"a\": 'x'}", "json-syntax", "double quotes", "'x'", "/a"),
        ("{a: 1}", "json-syntax", "double quotes", "a", "/a"),
        ('{"a": True}', "json-syntax", "write true", "True", "/a"),
        ('{"a": None}', "json-syntax", "write null", "None", "/a"),
        ('{"a": tru}', "json-syntax", "not finished", "tru", "/a"),
        ('{"a": llama}', "json-syntax", "not a JSON value", "llama", "/a"),
        ('{"a": 1e}', "json-syntax", "exponent", "1e", "/a"),
        ('{"a": 01}', "json-syntax", "begins with a zero", "01", "/a"),
        ('{"a": .5}', "json-syntax", "write 0.5", ".5", "/a"),
        ('{"a": 5.}', "json-syntax", "write 5.0", "5.", "/a"),
        ('{"a": +5}', "json-syntax", "plus", "+5", "/a"),
        ('{"a": 1_000}', "json-syntax", "underscores", "1_000", "/a"),
        ('{"a": 0x10}', "json-syntax", "write 16", "0x10", "/a"),
        ('{"a" = 1}', "json-syntax", "not =", "=", "/a"),
        ('{"a": 1; "b": 2}', "json-syntax", "not by ;", ";", ""),
        ('{"a": (1, 2), "b": 3}', "json-syntax", "no tuples", "(1, 2)", "/a"),
        ("{“a”: 1}", "json-syntax", "straight quotes", "“a”", "/a"),
        ('{"a": “x”}', "json-syntax", "straight quotes", "“x”", "/a"),
        ('{"a": 1 /* x\n, "b": 2}', "json-syntax", "*/ is missing", "/* x", ""),
        ('{"a": NaN}', "json-nonfinite", "NaN", "NaN", "/a"),
        ('{"a": [0.0, -Infinity]}', "json-nonfinite", "-Infinity", "-Infinity", "/a"),
        ('{"a": 1e999}', "json-nonfinite", "larger than any float", "1e999", "/a"),
        ('{"a": 1} // x', "json-comment", "comments", "// x", ""),
        ('{"a": 1 /* x */}', "json-comment", "comments", "/* x */", ""),
        ('# x\n{"a": 1}', "json-comment", "comments", "# x", ""),
        ('\ufeff{"a": 1}', "json-bom", "byte order mark", "\ufeff", ""),
        ('{"a": "x\ty"}', "json-syntax", "\\t", "\t", "/a"),
        ('{"a": "C:\\models"}', "json-syntax", "\\m is not an escape", "\\m", "/a"),
        ('{"a": "\\u12"}', "json-syntax", "four hexadecimal", '\\u12"}', "/a"),
        ('{"a": "x,\n "b": 1}', "json-syntax", "not closed", '"x', "/a"),
        ('{"a": 1}\nmore', "json-syntax", "behind the end", "more", ""),
        ('{"a": 1', "json-syntax", "too early: }", "1", ""),
        ('{"a": {"b": [1, 2', "json-syntax", "too early: ]}}", "2", "/a/b"),
        ('{"a": 1\u00a0}', "json-syntax", "invisible", "\u00a0", ""),
        ("", "json-syntax", "empty", "", ""),
        ("  \n", "json-syntax", "empty", "", ""),
    ],
)  # fmt: skip
def test_one_fault_gives_one_exact_problem(text: str, rule: str, part: str, marked: str, pointer: str) -> None:
    found = only(text)
    assert (found[0], found[2], found[3]) == (rule, marked, pointer)
    assert part in found[1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": NaN, "b": 1}', {"a": math.nan, "b": 1}),
        ('{"a": Infinity, "b": -Infinity}', {"a": math.inf, "b": -math.inf}),
        ('{"a": True, "b": None, "c": \'x\'}', {"a": True, "b": None, "c": "x"}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": , "b": 2}', {"b": 2}),
        ('{"a": 1, "b": [1, , 3]}', {"a": 1, "b": [1, 3]}),
        ('{"a": [1, foo, 3]}', {"a": [1, None, 3]}),
        ('{"a": "x, "b": 2, "c": "y"}', {"a": "x", "b": 2, "c": "y"}),
        ('{"a: 1, "b": 2}', {"a": 1, "b": 2}),
        ('{a": 1, "b": 2}', {"a": 1, "b": 2}),
        ('{"a": x", "b": 2}', {"a": "x", "b": 2}),
        ('{"a": "one\ntwo", "b": 2}', {"a": "one\ntwo", "b": 2}),
        ('{"a": 1, "text": {"b": 2', {"a": 1, "text": {"b": 2}}),
        ('"a": 1, "b": 2}', {"a": 1, "b": 2}),
        ('config = {"a": 1}', {"a": 1}),
        ("{}", {}),
    ],
)
def test_what_can_be_read_is_read(text: str, value: Any) -> None:
    assert repr(JsonDocument.parse(text).data) == repr(value)


def test_a_key_is_reported_with_the_place_where_it_stood_before() -> None:
    text = '{"a": 1, "b": 2, "a": 3, "a": 4}'
    problems = JsonDocument.parse(text).problems
    assert [(problem.rule, problem.span, problem.related) for problem in problems] == [
        ("json-duplicate-key", (17, 20), (1, 4)),
        ("json-duplicate-key", (25, 28), (17, 20)),
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("<!DOCTYPE html>\n<html><body>Not found</body></html>", "web page"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 1\n", "git lfs pull"),
        ("Entry not found", "not JSON"),
        ("model_type: llama\nhidden_size: 5\n", "not JSON"),
        ("PK\x03\x04\x00\x00", "binary"),
        ("{\\rtf1 \\ansi a b c d e f g h i j k l}", "not JSON"),
    ],
)
def test_a_file_that_is_not_json_at_all_gives_one_problem_on_its_first_line(text: str, part: str) -> None:
    document = JsonDocument.parse(text, "config.json")
    (problem,) = document.problems
    assert problem.rule == "json-syntax"
    assert part in problem.message
    assert LineIndex(text).position(problem.span[1]).line == 0


def test_merge_conflicts_are_told_once_a_marker_and_not_as_equal_keys() -> None:
    text = '{\n<<<<<<< HEAD\n  "a": 1,\n=======\n  "a": 2,\n>>>>>>> other\n  "b": 3\n}\n'
    document = JsonDocument.parse(text)
    assert [text[slice(*problem.span)] for problem in document.problems] == ["<<<<<<< HEAD", "=======", ">>>>>>> other"]
    assert document.data == {"a": 2, "b": 3}


def test_jsonc_allows_comments_and_nothing_else() -> None:
    text = '{\n  // one\n  "a": 1, /* two */\n  "b": 2,\n}\n'
    assert [message.partition(":")[0] for message in messages(text, "settings.jsonc")] == ["json-syntax"]
    assert [message.partition(":")[0] for message in messages(text)] == ["json-comment", "json-comment", "json-syntax"]


@pytest.mark.parametrize("opener", ["[", '{"a":', '{"a": [', "{", '{"a":\n  '])
@pytest.mark.parametrize("count", [90, 150, 5_000, 100_000])
def test_nesting_never_raises(opener: str, count: int) -> None:
    document = JsonDocument.parse(opener * count)
    assert document.problems
    assert document.pointer_at(len(document.text) // 2) is not None


def test_sound_nesting_is_read_up_to_the_limit_and_reported_beyond() -> None:
    assert JsonDocument.parse("[" * 90 + "]" * 90).problems == ()
    document = JsonDocument.parse('{"deep": ' + "[" * 500 + "]" * 500 + ', "after": 1}')
    assert [problem.message[:11] for problem in document.problems] == ["nested more"]
    assert isinstance(document.data, dict)
    assert document.data["after"] == 1


@pytest.mark.parametrize("place", [0, 250, 499])
@pytest.mark.parametrize(
    ("odd", "part"),
    [
        ('{"kind": "a", "kind": "b"}', "json-duplicate-key"),
        ("[" * 150 + "]" * 150, "nested more"),
        ('{"kind": ' + "[" * 150 + "]" * 150 + "}", "nested more"),
    ],
)
def test_what_stands_among_many_equal_objects_is_not_overlooked(place: int, odd: str, part: str) -> None:
    items = ['{"kind": "a"}'] * 300 + ['{"kind": "b"}'] * 200
    items.insert(place, odd)
    document = JsonDocument.parse("[" + ", ".join(items) + "]")
    (problem,) = document.problems
    assert part in f"{problem.rule}: {problem.message}"


def test_integers_too_long_to_print_are_reported() -> None:
    document = JsonDocument.parse('{"a": ' + "9" * 5_000 + ', "b": 1}')
    assert document.data == {"b": 1}
    assert ["5,000 digits" in problem.message for problem in document.problems] == [True]
    assert JsonDocument.parse('{"a": 1' + "0" * 100 + "}").data == {"a": 10**100}


@given(st.text(st.sampled_from("{}[]:,\"'\\ \n\t/*#-+.0123eEtrufalsn<>="), max_size=60))
@settings(max_examples=400)
def test_no_text_raises(text: str) -> None:
    document = JsonDocument.parse(text)
    for problem in document.problems:
        assert 0 <= problem.span[0] <= problem.span[1] <= len(text)
    for offset in range(len(text) + 1):
        document.pointer_at(offset)
    document.nearest_span("/a/b")
    try:
        expected = json.loads(text)
    except ValueError:
        assert document.problems
    else:
        assert repr(document.data) == repr(expected)


@pytest.mark.parametrize("text", layouts(DECODER)[:1] + compact(NESTED)[:1])
def test_every_beginning_of_a_file_is_read_without_error(text: str) -> None:
    full = json.loads(text)
    for end in range(len(text.rstrip())):
        document = JsonDocument.parse(text[:end])
        assert document.problems, text[:end]
        for key, value in (document.data if isinstance(document.data, dict) else {}).items():
            place = document.pair_span(f"/{key}")
            assert place is not None
            if place[1] < end - 1 and not isinstance(value, dict | list):
                assert full[key] == value


def test_edits_leave_nothing_behind() -> None:
    document = JsonDocument.parse(layouts(NESTED)[0])
    place = document.value_span("/text_config/hidden_size")
    assert place is not None
    sizes = []
    for count in range(1_000):
        document = document.edited([TextEdit((place[0], place[0] + 1), str(count % 9 + 1))], version=count)
        assert document.problems == ()
        if count % 499 == 1:
            gc.collect()
            sizes.append(len(gc.get_objects()))
    assert sizes[-1] < sizes[0] + 100
