"""A tree whose functions are parsed when looked at is the tree that ``ast.parse`` gives, on the same lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import neurarch_schemas
from neurarch_schemas.interpreter import SourceCache, interpret
from neurarch_schemas.interpreter.lazy_functions import LazyFunction, parse

FILES = sorted(Path(neurarch_schemas.__file__).parent.glob("interpreter/**/*.py"))
LONG = "".join(f"        value_{i} = {i} + 1  # long enough to be worth it\n" for i in range(8))
TRICKY = {
    "method": f"class A:\n    def f(self):\n{LONG}\n\nx = 1\n",
    "last line without an end": f"class A:\n    def f(self):\n{LONG}        return 1",
    "tabs": "class A:\n\tdef f(self):\n" + LONG.replace("        ", "\t\t") + "\n\tdef g(self): pass\n",
    "signature over lines": f"def f(\n    a=(1, 2),\n    b: dict[str, int] = dict(x=1),\n) -> int:\n{LONG}",
    "default with a bracket": f"def f(a=')'):\n{LONG}\ndef g(a='(', b=3):\n{LONG}",
    "comment in the signature": f"def f(\n    a,  # (\n    b,\n):\n{LONG}",
    "comment before the end": f"class A:\n    def f(self):\n{LONG}# far left\n        return 1\n",
    "trailing comment": f"class A:\n    def f(self):\n{LONG}        # the end\n\n    x = 1\n",
    "text at the left": f'def f():\n{LONG}        x = """\nfar left\ndef g():\n    return 1\n"""\n        return x\n',
    "function in a text": f'TEXT = """\ndef f():\n{LONG}"""\ndef g():\n{LONG}',
    "function in another text": f"TEXT = '''\ndef f():\n{LONG}'''\ndef g():\n{LONG}",
    "quotes in a text": f'def f():\n    x = \'"""\'\n{LONG}\ndef g():\n{LONG}'.replace("        ", "    "),
    "line continued": f"def f():\n{LONG}        x = 1 + \\\n2\n",
    "brackets at the left": f"def f():\n{LONG}        x = [\n1,\n]\n        return x\n",
    "nested": f"def f():\n    def g():\n{LONG}        return 1\n    return g\n",
    "in blocks": (
        f"try:\n    def f():\n{LONG}except E:\n    def f():\n{LONG}else:\n    if x:\n        pass\n    else:\n"
        f"        def g():\n    {LONG.replace(chr(10), chr(10) + '    ')}\nwith y:\n    async def h():\n{LONG}"
    ),
    "decorated": f"class A:\n    @property\n    def f(self):\n{LONG}\n    @f.setter\n    def f(self, x):\n{LONG}",
    "plain pass": f"def f():\n    pass\ndef g():\n{LONG}",
    "generator": f"async def f():\n{LONG}        yield await x\n        return\n",
}


def told(node: ast.AST) -> Iterator[object]:
    """A tree as text, with places; where a function ends does not count the comments behind it."""
    yield "FunctionDef" if isinstance(node, LazyFunction) else type(node).__name__
    yield getattr(node, "lineno", None)
    yield getattr(node, "col_offset", None)
    for name, value in ast.iter_fields(node):
        yield name
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from told(each)
            else:
                yield each


@pytest.mark.parametrize("text", TRICKY.values(), ids=TRICKY.keys())
def test_texts_that_lead_astray(text: str) -> None:
    assert list(told(parse(text))) == list(told(ast.parse(text)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_our_own_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert list(told(parse(text))) == list(told(ast.parse(text)))


def test_functions_are_left_unread() -> None:
    text = f'"""\ndef f():\n{LONG}"""\nclass A:\n    def f(self):\n{LONG}    def g(self, x=1):\n{LONG}'
    (cls,) = parse(text).body[1:]
    assert isinstance(cls, ast.ClassDef)
    plain, other = cls.body
    assert isinstance(plain, LazyFunction)
    assert isinstance(other, LazyFunction)
    assert not {"args", "body"} & vars(plain).keys()
    assert vars(other).keys() & {"args", "body"} == {"args"}
    assert (plain.is_plain, other.is_plain) == (True, False)
    assert [len(each.body) for each in (plain, other)] == [8, 8]
    assert [each.arg for each in plain.args.args] == ["self"]
    assert cls.end_lineno == text.count("\n")


def test_what_cannot_be_parsed_raises() -> None:
    with pytest.raises(SyntaxError):
        parse(f"def f():\n{LONG}\nx = = 1\n")


def test_a_broken_function_of_a_library_is_told_when_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(f"def sound():\n    return 3\ndef broken():\n{LONG}        x = = 1\n")
    model = tmp_path / "model.py"
    model.write_text(
        "import torch.nn as nn\nimport library\nclass M(nn.Module):\n    def __init__(self, make):\n"
        "        super().__init__()\n        self.l = nn.Linear(make(), 2)\n"
    )
    cache = SourceCache()
    assert interpret(str(model), "M(library.sound)", cache=cache).exact
    result = interpret(str(model), "M(library.broken)", cache=cache)
    assert result.tree is None
    assert result.reason is not None
    assert "SyntaxError: line 12: invalid syntax" in result.reason
