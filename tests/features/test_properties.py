"""What must hold for any text: features never raise, completions keep sound files sound, formatting keeps values."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurarch_lsp.features import formatting, outline
from neurarch_lsp.features.completion import complete
from neurarch_lsp.features.cursor import cursor_at
from neurarch_lsp.lsp.snippets import plain_text
from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.documents.json_edits import apply_edits

PIECES = st.sampled_from(
    [
        *'{}[],:"\\', "\n", "\r\n", " ", "//", "/*", "*/", "1", "true", "null", "NaN", "🤖", "\u2028", "hid", "#",
        '"model_type"', '"llama"', '"rope_parameters"', '"hidden_size"',
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=40).map("".join)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=20
)


@given(TEXTS, st.data())
@settings(max_examples=400, deadline=None)
def test_features_never_raise(text: str, data: st.DataObject) -> None:
    document = JsonDocument.parse(text, "config.json")
    offset = data.draw(st.integers(0, len(text)))
    cursor = cursor_at(document, offset)
    assert 0 <= cursor.span[0] <= cursor.span[1] <= len(text)
    for item in complete(document, offset, "config"):
        assert 0 <= item.span[0] <= offset <= max(item.span[1], offset)
    spans = outline.selections(document, offset)
    assert spans[-1] == (0, len(text))
    assert all(inner[0] >= outer[0] and inner[1] <= outer[1] for inner, outer in pairwise(spans))
    outline.symbols(document, None)
    outline.folds(document)
    formatting.formatted(document)


@given(
    st.dictionaries(st.sampled_from(["hidden_size", "vocab_size", "_note", "a b", "ü🤖"]), VALUES, min_size=1),
    st.integers(0, 4),
    st.sampled_from([None, 2, 4]),
    st.sampled_from(["\n", "\r\n"]),
    st.data(),
)
@settings(max_examples=150, deadline=None)
def test_an_accepted_key_leaves_everything_else_as_it_was(
    pairs: dict[str, Any], at: int, indent: int | None, newline: str, data: st.DataObject
) -> None:
    config = {"model_type": "llama", **pairs}
    text = json.dumps(config, indent=indent, ensure_ascii=False).replace("\n", newline)
    document = JsonDocument.parse(text, "config.json")
    keys = list(config)
    span = document.pair_span("/" + keys[at % len(keys)].replace("~", "~0").replace("/", "~1"))
    assert span is not None
    offset = data.draw(st.sampled_from(span))
    offset = span[1] if offset == span[1] else span[0]
    items = [item for item in complete(document, offset, "config") if item.kind == "key"]
    if offset == span[1]:
        return  # right behind a value: its own token is meant
    for item in items[:3]:
        edits = [(item.span[0], item.span[1], plain_text(item.new_text))]
        if item.comma_at is not None:
            edits.append((item.comma_at, item.comma_at, ","))
        after = text
        for start, end, new in sorted(edits, reverse=True):
            after = after[:start] + new + after[end:]
        if plain_text(item.new_text).rstrip(", ").endswith(":"):
            continue  # a number is still to be typed
        found = json.loads(after)
        assert item.label in found
        assert {key: value for key, value in found.items() if key != item.label} == {
            key: value for key, value in config.items() if key != item.label
        }


@given(
    st.dictionaries(st.text(max_size=8), VALUES, max_size=6),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=200, deadline=None)
def test_formatting_changes_whitespace_only_and_once(
    value: dict[str, Any], indent: int | str | None, newline: str
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", newline)
    document = JsonDocument.parse(text, "config.json")
    if document.problems:
        return
    after = apply_edits(text, formatting.formatted(document))
    assert json.loads(after) == value
    again = JsonDocument.parse(after, "config.json")
    assert apply_edits(after, formatting.formatted(again)) == after


def test_a_file_in_its_authors_style_is_left_alone() -> None:
    text = '{\n    "a": [1, 2, 3],\n    "b": {\n        "c": []\n    }\n}\n'
    assert formatting.formatted(JsonDocument.parse(text, "config.json")) == ()


@pytest.mark.parametrize("text", ['{"a": 1, // why\n "b": 2}', '{"a": 1,}', "{", ""])
def test_a_broken_file_is_not_formatted(text: str) -> None:
    assert formatting.formatted(JsonDocument.parse(text, "config.json")) == ()


def test_a_cursor_deep_in_a_large_file_is_found_quickly_and_rightly() -> None:
    config = {
        "model_type": "llama",
        "quantization_config": {"quantized_layers": {f"layers.{number}": {"bits": 4} for number in range(20_000)}},
        "num_hidden_layers": 3,
    }
    text = json.dumps(config, indent=2)
    document = JsonDocument.parse(text, "config.json")
    inner = cursor_at(document, text.index('"layers.19990"') + len('"layers.19990": {'))
    assert (inner.role, inner.pointer) == ("key", "/quantization_config/quantized_layers/layers.19990")
    outer = cursor_at(document, text.index('"num_hidden_layers"') + 5)
    assert (outer.role, outer.pointer) == ("key", "")
