"""Reading stays linear and stops in texts that are hardly JSON. Steps and problems are counted, not time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurarch_schemas.documents import json_document, layout, parser, reporting, scanner
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.json_document import MAX_PROBLEMS, JsonDocument
from neurarch_schemas.documents.nodes import NOT_READ
from neurarch_schemas.documents.reporting import LARGE, MAX_COMMENTS, MAX_REPAIRS, MAX_STEPS
from tests.documents.samples import DECODER


def large(layers: int = 2_000, indent: int | None = 2) -> str:
    each = {f"layers.{at}.w1": {"quant_algo": "NVFP4", "group_size": 16} for at in range(layers)}
    return json.dumps({**DECODER, "quantization_config": {"ignore": [], "layers": each}, "zeta": 1}, indent=indent)


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Code points given to the standard library's reader, and tokens that the tolerant reader took one by one."""
    counted = {"given": 0, "steps": 0}
    scan_part, skip = parser.Parser._scan_part, reporting.Reporting.skip

    def counted_scan(self: parser.Parser, start: int, at: int, end: int) -> Any:
        counted["given"] += min(end, len(self.text)) - start
        return scan_part(self, start, at, end)

    def counted_skip(self: reporting.Reporting, at: int) -> int:
        counted["steps"] += 1
        return skip(self, at)

    monkeypatch.setattr(parser.Parser, "_scan_part", counted_scan)
    monkeypatch.setattr(reporting.Reporting, "skip", counted_skip)
    return counted


@pytest.mark.parametrize("damage", [('":', '";'), ('"', "'"), ("}", ""), ("{", "["), (",", ""), (": {", ": ")])
def test_damage_everywhere_in_a_large_text_is_not_repaired_to_the_end(
    damage: tuple[str, str], count: dict[str, int]
) -> None:
    text = large(8_000).replace(*damage)
    document = JsonDocument.parse(text)
    messages = [problem.message for problem in document.problems]
    assert NOT_READ in messages or "there is text behind the end of the JSON value" in messages
    assert len(document._all_problems) <= MAX_REPAIRS + 1
    assert count["given"] < 8 * len(text)
    assert count["steps"] < 20 * MAX_REPAIRS
    assert document.is_damaged("")


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("cut", ["first", "last", "middle"])
def test_one_missing_bracket_costs_a_few_readings(indent: int | None, cut: str, count: dict[str, int]) -> None:
    whole = large(3_000, indent)
    at = {"first": 0, "last": len(whole) - 1, "middle": whole.index("}", len(whole) // 2)}[cut]
    text = whole[:at] + whole[at + 1 :]
    document = JsonDocument.parse(text)
    assert 1 <= len(document.problems) <= 3
    assert count["given"] < 4 * len(text)
    assert isinstance(document.data, dict)
    assert document.data["hidden_size"] == DECODER["hidden_size"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a": [' * 20_000,
        '{"' * 100_000,
        "{" + '"' * 200_001,
        "{" + "," * 200_000,
        "{" + "'" * 200_000,
        "[" + "1," * 110_000,
        "{" + '"k: \\' * 50_000,
        "{" + "/*\n" * 100_000,
        "{" + "“a " * 100_000,
        '{\n  "a": ' + "}]" * 100_000,
        '{\n  "a": {' + "\n<<<<<<< HEAD" * 20_000,
    ],
)
def test_texts_that_are_hardly_json_are_read_in_few_steps(text: str, count: dict[str, int]) -> None:
    document = JsonDocument.parse(text)
    assert document.problems
    assert len(document.problems) <= MAX_PROBLEMS + 2
    assert [problem.message for problem in document.problems].count(NOT_READ) <= 1
    assert count["given"] < 40 * len(text)
    assert count["steps"] <= 2 * MAX_STEPS + 10


def test_what_was_read_before_reading_stopped_is_right() -> None:
    text = large(8_000)
    at = text.index('"layers.1000.w1"')
    document = JsonDocument.parse(text[:at] + text[at:].replace('"', "'"))
    data: Any = document.data
    sound = json.loads(text)
    assert {key: data[key] for key in DECODER} == DECODER
    layers = data["quantization_config"]["layers"]
    assert len(layers) >= 1_000
    assert all(sound["quantization_config"]["layers"][key] == layers[key] for key in list(layers)[:-1])
    assert "zeta" not in data
    for pointer in ("", "/quantization_config", "/quantization_config/layers"):
        assert document.is_damaged(pointer)
    assert not document.is_damaged("/hidden_size")


def test_problems_beyond_the_cap_are_counted_in_one() -> None:
    document = JsonDocument.parse("{" + "".join(f"'k{at}': {at}, " for at in range(300)) + "}")
    assert len(document.problems) == MAX_PROBLEMS + 1
    assert document.problems[-1].message == "and 201 more problems from here on"
    assert isinstance(document.data, dict)
    assert document.data["k299"] == 299
    assert document.is_damaged("/k299")


def test_comments_of_a_large_file_cost_no_repairs() -> None:
    text = large(3_000).replace("\n", " // a comment\n")
    document = JsonDocument.parse(text)
    assert document.data == json.loads(large(3_000))
    assert {problem.rule for problem in document._all_problems} == {"json-comment"}
    assert len(document._all_problems) == MAX_COMMENTS


def test_a_file_without_its_last_brace_is_edited_locally(monkeypatch: pytest.MonkeyPatch) -> None:
    text = large(3_000)[:-1]
    document = JsonDocument.parse(text)
    monkeypatch.setattr(json_document, "read", None)
    for anchor, added in (
        ("16\n", "1"),
        ('"hidden_size": 4096', '"more": 1, '),
        ('"layers.900.w1"', '"x": 1, '),
    ):
        at = document.text.index(anchor)
        document = document.edited([TextEdit((at, at), added)])
    monkeypatch.undo()
    assert document.data == json.loads(document.text + "}")
    assert document.problems == JsonDocument.parse(document.text).problems
    at = len(document.text)
    assert document.edited([TextEdit((at, at), "}")]).problems == ()


def test_brackets_are_counted_outside_strings() -> None:
    assert layout.bracket_balance('{"a": "}", "b\\"{": [') == 2
    assert layout.bracket_balance('{\n  "a: {\n    "x": 1\n  },') == 1
    assert layout.sure_balance('{"a": "}"') == 1
    assert layout.sure_balance('{"a": 1 # {\n') == 0
    assert layout.sure_balance('{"a": "}"}') == 0


@given(st.text(st.sampled_from('ab{}[]":,\\\n\r'), max_size=30))
def test_strings_are_left_aside_alike_by_both_ways(text: str) -> None:
    bare = layout._STRINGS.sub("", text)
    expected = bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")
    assert layout.bracket_balance(text) == expected


def test_a_sound_string_is_read_as_the_standard_library_reads_it() -> None:
    for spelled in ('"a"', '""', '"\\u00e9\\n"', '"\\ud83d\\ude00"', '"é"'):
        assert scanner.read_string(spelled, 0, scanner.silent)[:2] == (len(spelled), json.loads(spelled))


def test_the_sizes_of_these_tests_are_large() -> None:
    assert len(large(2_000, None)) > LARGE
