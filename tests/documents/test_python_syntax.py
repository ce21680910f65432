"""The first place of a Python text that cannot be read."""

from __future__ import annotations

import pytest

from neurarch_schemas.documents.python_document import PythonDocument
from neurarch_schemas.documents.python_syntax import python_fault


@pytest.mark.parametrize(
    ("text", "marked", "message"),
    [
        ("import torch\nx = f(1,\n", "(", "never closed"),
        ("import torch\nx = [1, 2\ny = 3\n", "[", "never closed"),
        ("def f():\nreturn 1\n", "return", "expected an indented block"),
        ("    x = 1\n", "x = 1", "unexpected indent"),
        ("x = 'abc\n", "'abc", "unterminated string"),
        ('x = """abc\n', '"""abc', "unterminated triple-quoted"),
        ("if x = 3:\n    pass\n", "x = 3", "instead of '='"),
        ("x = 1 +\r\ny = 2\r\n", "x = 1 +", "invalid syntax"),
        ("x = 'caf\udce9'\n", "\udce9", "0xE9 is not UTF-8"),
    ],
)
def test_the_place_is_marked_narrowly(text: str, marked: str, message: str) -> None:
    fault = python_fault(PythonDocument.parse(text))
    assert fault is not None
    assert fault.is_certain
    assert message in fault.message
    assert text[fault.span[0] : fault.span[1]] == marked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment",
        "\ufeffimport torch\r\nx = 1\r\n",
        "import torch\n\fclass A:\n    pass\n",
        "x = '''\nclass A(\n'''\n",
        "x = \"'''\"\nclass A:\n    pass\n",
        "if x:\n    pass\nelif y:\n    pass\nelse:\n    pass\n",
        "# -*- coding: latin-1 -*-\nx = 'caf\udce9'\n",
        "@a\n\n# why\n@b\ndef f(): ...\n",
    ],
)
def test_what_can_be_read_is_not_told(text: str) -> None:
    assert python_fault(PythonDocument.parse(text)) is None


def test_the_python_of_another_time_is_no_error() -> None:
    fault = python_fault(PythonDocument.parse("import torch\nprint 'x'\n"))
    assert fault is not None
    assert not fault.is_certain
    assert fault.reader.startswith("Python 3.")
