from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurarch_schemas.documents import line_index
from neurarch_schemas.documents.line_index import LineIndex, PositionEncoding

TEXTS = st.text(st.sampled_from("ab \n\r\r\n\f\v\u0085\u2028é漢😀\U0010ffff"), max_size=60)
ENCODINGS: tuple[PositionEncoding, ...] = ("utf-8", "utf-16", "utf-32")


def plain_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]


def units(text: str, encoding: str) -> int:
    if encoding == "utf-8":
        return len(text.encode())
    return len(text) if encoding == "utf-32" else len(text.encode("utf-16-le")) // 2


@given(TEXTS)
def test_lines_are_those_of_lsp(text: str) -> None:
    index = LineIndex(text)
    starts = plain_starts(text)
    assert index.line_count == len(starts)
    assert [index.line_start(line) for line in range(len(starts))] == starts
    for offset in range(len(text) + 1):
        line = max(number for number, start in enumerate(starts) if start <= offset)
        assert index.position(offset) == (line, offset - starts[line])


@given(TEXTS)
def test_every_place_survives_each_encoding(text: str) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        if text[max(offset - 1, 0) : offset + 1] == "\r\n":
            continue
        for encoding in ENCODINGS:
            line, column = index.encoded_position(offset, encoding)
            assert column == units(text[index.line_start(line) : offset], encoding)
            assert index.encoded_offset(line, column, encoding) == offset


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_places_outside_the_text_are_moved_to_the_nearest_that_exists(encoding: PositionEncoding) -> None:
    index = LineIndex("ab\r\n😀c\n")
    assert index.encoded_offset(0, 99, encoding) == 2
    assert index.encoded_offset(1, 99, encoding) == 6
    assert index.encoded_offset(9, 0, encoding) == 7
    assert index.encoded_offset(-1, 5, encoding) == 0
    assert index.encoded_offset(0, -5, encoding) == 0
    assert index.encoded_position(99, encoding) == (2, 0)
    assert index.encoded_position(-1, encoding) == (0, 0)


def test_a_column_inside_a_character_counts_as_before_it() -> None:
    index = LineIndex("a😀b")
    assert index.encoded_offset(0, 2, "utf-16") == 1
    assert index.encoded_offset(0, 3, "utf-8") == 1
    assert index.encoded_offset(0, 3, "utf-16") == 2


def test_lines_far_into_a_large_text() -> None:
    text = "".join(f"line {number}\r\n" if number % 3 else f"{number}\n\r" for number in range(20_000))
    index = LineIndex(text)
    starts = plain_starts(text)
    assert index.line_count == len(starts)
    for line in range(0, len(starts), 997):
        assert index.line_start(line) == starts[line]
        assert index.position(starts[line]) == (line, 0)
    assert [index.line_text(1), index.line_text(2)] == ["", "line 1"]


@given(TEXTS, st.integers(1, 9))
def test_a_line_may_be_longer_than_what_is_looked_through(text: str, block: int) -> None:
    """Places are found from the nearest block on; with tiny blocks every line is such."""
    plain = LineIndex(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_index, "_BLOCK", block)
        index = LineIndex(text)
        for encoding in ENCODINGS:
            for offset in range(len(text) + 1):
                line, column = index.encoded_position(offset, encoding)
                start = plain.line_start(line)
                assert (line, column) == (plain.line_of(offset), units(text[start:offset], encoding))
                assert index.encoded_offset(line, column, encoding) == plain.encoded_offset(line, column, encoding)


def test_many_places_on_one_long_line_cost_little() -> None:
    """A million places of a quadratic search would take hours; this ends at once or the suite is stopped."""
    index = LineIndex("x" * 2_000_000 + "混")
    for offset in range(0, 2_000_000, 20):
        assert index.encoded_position(offset, "utf-16") == (0, offset)
