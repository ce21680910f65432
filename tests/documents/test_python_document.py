from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.python_document import PythonDocument

SOURCE = """# é comment 😀
x = "😀"  # neurarch: ignore[rule-a, rule-b] because it is so
s = "# neurarch: ignore[in-a-string]"
# neurarch: file-ignore[rule-c]
    # neurarch: ignore[rule-d]
# neurarch: GPT(n_layer=12, n_head=2)
class Attention(nn.Module):
    def __init__(self, dim):
        self.q = nn.Linear(dim, 3 * dim)
"""


def test_places_are_code_points() -> None:
    document = PythonDocument.parse(SOURCE)
    start = SOURCE.index("nn.Linear")
    node = document.root.named_descendant_for_byte_range(document.byte_offset(start), document.byte_offset(start + 9))
    assert node is not None
    assert SOURCE[slice(*document.span(node))] == "nn.Linear"


@given(st.text(st.sampled_from("ab é漢😀\n"), max_size=3000), st.data())
@settings(max_examples=60, deadline=None)
def test_byte_and_code_point_offsets_agree(text: str, choose: st.DataObject) -> None:
    document = PythonDocument.parse(text)
    for offset in choose.draw(st.lists(st.integers(0, len(text)), max_size=20)):
        byte = len(text[:offset].encode())
        assert document.byte_offset(offset) == byte
        assert document.offset(byte) == offset


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_an_edited_document_equals_one_read_afresh(choose: st.DataObject) -> None:
    document = PythonDocument.parse(SOURCE)
    for _ in range(3):
        start = choose.draw(st.integers(0, len(document.text)))
        end = min(len(document.text), start + choose.draw(st.sampled_from([0, 0, 1, 5])))
        added = choose.draw(
            st.sampled_from(["", "x", "(", '"', "\n", "    ", "é", "😀 = 1\n", "# neurarch: ignore[z]\n"])
        )
        document = document.edited([TextEdit((start, end), added)], version=2)
    fresh = PythonDocument.parse(document.text)
    assert document.source == fresh.source
    if not fresh.has_errors:
        assert str(document.root) == str(fresh.root)


def test_several_edits_at_once_and_no_text_raises() -> None:
    text = "a = 1\nb = 2\n"
    edited = PythonDocument.parse(text).edited(
        [TextEdit((0, 1), "é"), TextEdit((6, 7), "bb"), TextEdit((12, 12), "c = 3\n")]
    )
    assert edited.text == "é = 1\nbb = 2\nc = 3\n"
    assert str(edited.root) == str(PythonDocument.parse(edited.text).root)
    broken = PythonDocument.parse("def f(:\n  \ud800 = [1,\n")
    assert broken.has_errors
    assert list(broken.errors())


def test_the_text_before_an_edit_is_unchanged() -> None:
    before = PythonDocument.parse(SOURCE)
    shape = str(before.root)
    before.edited([TextEdit((0, 10), "class X:\n  y = 1\n")])
    assert str(before.root) == shape
