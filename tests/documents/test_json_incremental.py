from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurarch_schemas.documents import incremental
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.documents.nodes import RawProblem
from tests.documents.samples import DECODER, NESTED, compact, layouts
from tests.documents.test_json_damage import TOKEN

PIECES = [
    "", '"', "{", "}", ",", ":", "[", "]", "\n", " ", "a", "1", ".", "e", "-", "//x", "/*", "\\", "tru", "'", "NaN",
    ' "k": 1,', '"hidden_size"', "\n  ", "#", '"x": {"y": [1, {"z": null}]},', "é😀", "\r\n",
]  # fmt: skip


def places(document: JsonDocument, pointer: str = "") -> list[Any]:
    found: list[Any] = [(pointer, document.key_span(pointer), document.value_span(pointer))]
    for key in document.keys(pointer):
        found += places(document, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    return found


def assert_same(edited: JsonDocument, fresh: JsonDocument) -> None:
    assert edited.text == fresh.text
    assert repr(edited.data) == repr(fresh.data)
    assert edited.problems == fresh.problems
    assert places(edited) == places(fresh)


@pytest.mark.parametrize("text", layouts(NESTED)[:1] + layouts(DECODER)[3:] + compact(NESTED)[:1])
@given(choose=st.data())
@settings(max_examples=80, deadline=None)
def test_an_edited_document_equals_one_read_afresh(text: str, choose: st.DataObject) -> None:
    document = JsonDocument.parse(text)
    for _ in range(4):
        if choose.draw(st.booleans()):
            tokens = [token.span() for token in TOKEN.finditer(document.text)] or [(0, 0)]
            start, end = choose.draw(st.sampled_from(tokens))
        else:
            start = choose.draw(st.integers(0, len(document.text)))
            end = min(len(document.text), start + choose.draw(st.sampled_from([0, 0, 1, 2, 30])))
        edit = TextEdit((start, end), choose.draw(st.sampled_from(PIECES)))
        document = document.edited([edit], version=3)
        assert_same(document, JsonDocument.parse(document.text))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_several_edits_at_once(choose: st.DataObject) -> None:
    text = layouts(NESTED)[0]
    cuts = sorted(choose.draw(st.lists(st.integers(0, len(text)), max_size=24, unique=True)))
    edits = [
        TextEdit((start, end), choose.draw(st.sampled_from(PIECES)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    edited = JsonDocument.parse(text).edited(edits)
    parts, at = [], 0
    for edit in edits:
        parts += [text[at : edit.span[0]], edit.text]
        at = edit.span[1]
    assert_same(edited, JsonDocument.parse("".join(parts) + text[at:]))


def test_typing_a_new_pair_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    whole = incremental.edited_tree
    monkeypatch.setattr(incremental, "edited_tree", lambda *given: reads.append(tree := whole(*given)) or tree)
    document = JsonDocument.parse(layouts(NESTED)[0])
    at = document.text.index('"vocab_size"')
    for piece in ('"num_hidden_layers"', ":", " ", "1", "2", ",", "\n    "):
        document = document.edited([TextEdit((at, at), piece)])
        at += len(piece)
    assert None not in reads
    assert document.problems == ()
    assert isinstance(document.data, dict)
    assert document.data["text_config"]["num_hidden_layers"] == 12  # type: ignore[call-overload, index]  # a dict


def test_values_that_an_edit_does_not_touch_stay_the_same_objects() -> None:
    before = JsonDocument.parse(layouts(NESTED)[0])
    start, end = before.value_span("/vision_config/depth") or (0, 0)
    after = before.edited([TextEdit((start, end), "24")], version=2)
    old: Any = before.data
    new: Any = after.data
    assert new["vision_config"]["depth"] == 24
    assert old["vision_config"]["depth"] == 2
    assert new["text_config"] is old["text_config"]
    assert new["vision_config"]["patches"] is old["vision_config"]["patches"]
    assert new["vision_config"] is not old["vision_config"]
    assert after.version == 2


def large(layers: int) -> str:
    each = {f"layers.{at}.experts.{at % 7}.w1": {"quant_algo": "NVFP4", "group_size": 16} for at in range(layers)}
    return json.dumps({**DECODER, "quantization_config": {"ignore": [], "layers": each}, "zeta": 1}, indent=2)


def test_a_large_file_stays_local_while_brackets_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    document = JsonDocument.parse(large(2_000))
    assert len(document.text) > 150_000
    monkeypatch.setattr("neurarch_schemas.documents.json_document.read", None)
    for key, anchor in (("first", '"hidden_size"'), ("second", '"layers.1000.'), ("third", '"zeta"')):
        at = document.text.index(anchor)
        indent = at - document.text.rindex("\n", 0, at) - 1
        for character in f'"{key}": {{"a": 1, "b": [1, 2]}},\n' + " " * indent:
            document = document.edited([TextEdit((at, at), character)])
            at += 1
        assert document.problems == ()
    assert document.data == json.loads(document.text)


def test_random_edits_of_a_large_file_and_their_undoing() -> None:
    """Where brackets do not match, a large file may be read otherwise than from its beginning."""
    original = JsonDocument.parse(large(1_500))
    choose = random.Random(5)
    for _ in range(12):
        document = original
        undo = []
        for _ in range(3):
            start = choose.randrange(len(document.text))
            end = min(len(document.text), start + choose.choice([0, 1]))
            added = choose.choice(PIECES)
            undo.append(TextEdit((start, start + len(added)), document.text[start:end]))
            document = document.edited([TextEdit((start, end), added)])
            fresh = JsonDocument.parse(document.text)
            assert bool(document.problems) == bool(fresh.problems)
            if not any(problem.structural for problem in raw_problems(fresh) + raw_problems(document)):
                assert repr(document.data) == repr(fresh.data)
                assert document.problems == fresh.problems
        for edit in reversed(undo):
            document = document.edited([edit])
        assert document.problems == ()
        assert document.data == original.data
        assert document.text == original.text


def raw_problems(document: JsonDocument) -> list[RawProblem]:
    waiting, found = [document._root], []
    while waiting:
        node = waiting.pop()
        found += node.problems
        waiting += [member.child for member in node.members or () if member.child is not None]
    return found
