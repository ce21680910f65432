"""Syntax trees of files whose functions are mostly never called: one is parsed when it is first looked at.

The text of a library is cut by layout before it is parsed: a signature, and the lines below it that are indented
deeper. That this was right shows in what remains: it must parse, and each cut must be a function in it.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any, NamedTuple

_FUNCTION = re.compile(
    r"\n([ \t]*)def (\w+)"
    r"(\((?:[^()#]++|\((?:[^()#]++|\([^()#]*+\))*+\)|#[^\n]*+)*+\)(?: *-> *[^\n:]++)?:)[ \t]*"
    r"((?:\n\1[ \t]+[^\n]*|\n[ \t]*(?=\n|\Z))+)"
)
"""Indentation, name, signature, body."""
_SHORTEST = 80
"""Shorter functions are parsed with the rest."""
_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})


class _Cut(NamedTuple):
    """A function: its text without decorators, and the line it begins at."""

    text: str
    line: int
    is_plain: bool


class _Part:
    """A field of a function, read when it is first asked for. What is read then stands before this."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, function: LazyFunction, owner: object = None) -> Any:
        return function.read(self._name)


class LazyFunction(ast.FunctionDef):
    """``is_plain``: no parameter has a default, so that nothing of it is evaluated when it is defined."""

    args: Any = _Part("args")
    body: Any = _Part("body")
    returns: Any = _Part("returns")

    def __init__(self, cut: _Cut, placeholder: ast.FunctionDef) -> None:
        # fields that are not set are those that are read later
        self.name, self.decorator_list = placeholder.name, placeholder.decorator_list
        self.lineno, self.col_offset = cut.line, placeholder.col_offset
        self.end_lineno, self.end_col_offset = placeholder.end_lineno, placeholder.end_col_offset
        self._cut = cut
        self.is_plain = cut.is_plain
        if not cut.is_plain:
            self.args, self.returns = placeholder.args, placeholder.returns

    def speaks_of(self, *words: str) -> bool:
        """Whether one of these stands anywhere in its text."""
        return any(word in self._cut.text for word in words)

    def read(self, name: str) -> Any:
        """Parse it, and give one of its fields. Raises RecursionError, MemoryError."""
        function = _parsed(self._cut)
        for each in ("args", "returns", "body"):
            self.__dict__.setdefault(each, getattr(function, each))
        return self.__dict__[name]


def _parsed(cut: _Cut) -> ast.FunctionDef:
    """One that cannot be parsed raises the error when it is called. Raises RecursionError, MemoryError."""
    # empty lines put every statement on the line it has in the file
    text = "\n" * (cut.line - 2) + ("if 1:\n" if cut.text[0].isspace() else "\n") + cut.text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ast.parse(text).body[0]
    except (SyntaxError, ValueError) as error:
        problem = f"line {getattr(error, 'lineno', None) or cut.line}: {getattr(error, 'msg', error)}"
        found = ast.parse(f"def broken(*args, **options): raise SyntaxError({problem!r})").body[0]
    function = found.body[0] if isinstance(found, ast.If) else found
    assert isinstance(function, ast.FunctionDef)
    return function


def parse(text: str) -> ast.Module:
    """As ``ast.parse``, with ``LazyFunction`` for functions. Raises what that raises."""
    cuts: dict[int, _Cut] = {}
    line, position, quoted = 1, 0, False

    def cut(match: re.Match[str]) -> str:
        nonlocal line, position, quoted
        start, end = match.span()
        line += text.count("\n", position, start)
        quoted ^= _breaks_quotes(text, position, start)
        position = start
        whole = match[0].rstrip()
        if quoted or len(whole) < _SHORTEST or _breaks_quotes(text, start, end) or whole.endswith("\\"):
            return match[0]
        indentation, name, signature, _ = match.groups()
        is_plain = "=" not in signature
        head = "" if is_plain else f"\n{indentation}def {name}{signature}"
        tail = f"{indentation}def {name}(): pass" if is_plain else f"{indentation} pass"
        lines, below = whole.count("\n"), text.count("\n", start + len(whole), end)
        # the placeholder ends on the line the function ends on, so that classes do, too
        cuts[line + (lines if is_plain else 1)] = _Cut(whole[1:], line + 1, is_plain)
        line, position = line + lines + below, end
        return head + "\n" * (lines - head.count("\n")) + tail + "\n" * below

    rest = _FUNCTION.sub(cut, text)
    if cuts:
        try:
            tree = ast.parse(rest)
        except SyntaxError:
            return ast.parse(text)
        _put(tree, cuts)
        if not cuts:
            return tree
    return ast.parse(text)


def _breaks_quotes(text: str, start: int, end: int) -> bool:
    """Whether a text in triple quotes begins or ends in a part of the file."""
    return bool((text.count('"""', start, end) + text.count("'''", start, end)) % 2)


def _put(owner: ast.AST, cuts: dict[int, _Cut]) -> None:
    """Put what was cut in the place of its placeholders, those within other functions too."""
    for name in owner._fields:
        if name in _BLOCKS:
            block: list[ast.AST] = getattr(owner, name)
            for index, each in enumerate(block):
                if isinstance(each, ast.FunctionDef) and each.lineno in cuts:
                    block[index] = LazyFunction(cuts.pop(each.lineno), each)
                else:
                    _put(each, cuts)
