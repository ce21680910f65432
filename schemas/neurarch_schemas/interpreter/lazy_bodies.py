"""Syntax trees of files whose functions are mostly never called: a body is parsed when it is first looked at.

The text of a library is cut by layout before it is parsed: below a signature, the lines that are indented deeper. That
this was right shows in what remains: it must parse, and each cut must be the body of a function in it.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_FUNCTION = re.compile(
    r"^([ \t]*)(?:async )?def \w+\((?:[^()#]|\([^()#]*\))*\)(?: *-> *[^\n:]+)?:[ \t]*\n"
    r"((?:\1[ \t]+[^\n]*\n|[ \t]*\n)+)",
    re.MULTILINE,
)
_SHORTEST = 200
"""Shorter bodies are parsed with the rest."""


class _Cut(NamedTuple):
    """The body of a function: its text, and the line it begins at."""

    text: str
    line: int


class LazyBody(list[ast.stmt]):
    """The statements of a function, a list as in any syntax tree. Iterating, indexing and ``len`` parse it first."""

    __slots__ = ("_cut",)

    def __init__(self, cut: _Cut) -> None:
        super().__init__()
        self._cut: _Cut | None = cut

    def _parsed(self) -> None:
        cut = self._cut
        if cut is not None:
            statements = _statements(cut)
            self._cut = None
            self.extend(statements)

    def __iter__(self) -> Iterator[ast.stmt]:
        self._parsed()
        return super().__iter__()

    def __len__(self) -> int:
        self._parsed()
        return super().__len__()

    def __getitem__(self, index: Any) -> Any:
        self._parsed()
        return super().__getitem__(index)


def _statements(cut: _Cut) -> list[ast.stmt]:
    """A body that cannot be parsed raises the error when it is run. Raises RecursionError, MemoryError."""
    # empty lines put every statement on the line it has in the file
    text = "\n" * (cut.line - 2) + "if 1:\n" + cut.text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (block,) = ast.parse(text).body
    except (SyntaxError, ValueError) as error:
        problem = f"line {getattr(error, 'lineno', None) or cut.line}: {getattr(error, 'msg', error)}"
        return ast.parse(f"raise SyntaxError({problem!r})").body
    assert isinstance(block, ast.If)
    return block.body


def parse(text: str) -> ast.Module:
    """As ``ast.parse``, with ``LazyBody`` for the bodies of functions. Raises what that raises."""
    cuts: dict[int, _Cut] = {}
    line, position, quoted = 1, 0, False

    def cut(match: re.Match[str]) -> str:
        nonlocal line, position, quoted
        start = match.start(2)
        line += text.count("\n", position, start)
        quoted ^= _breaks_quotes(text[position:start])
        position = start
        body = match[2]
        if quoted or len(body) < _SHORTEST or _breaks_quotes(body) or body.rstrip().endswith("\\"):
            return match[0]
        lines, below = body.rstrip().count("\n"), body.count("\n")
        # the placeholder stands where the body ends, so that functions and classes end on the line they end on
        cuts[line + lines] = _Cut(body, line)
        return text[match.start() : start] + "\n" * lines + match[1] + " pass" + "\n" * (below - lines)

    rest = _FUNCTION.sub(cut, text)
    if cuts:
        try:
            tree = ast.parse(rest)
        except SyntaxError:
            return ast.parse(text)
        for function in _functions(tree.body):
            found = cuts.pop(function.body[0].lineno, None)
            if found is not None:
                function.body = LazyBody(found)
        if not cuts:
            return tree
    return ast.parse(text)


def _breaks_quotes(text: str) -> bool:
    """Whether a text in triple quotes begins or ends in it."""
    return bool((text.count('"""') + text.count("'''")) % 2)


def _functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions with a placeholder for a body, those within other functions too."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(statement.body[0], ast.Pass):
            yield statement
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if inner:
                yield from _functions(inner)
        for handler in getattr(statement, "handlers", ()):
            yield from _functions(handler.body)
        for case in getattr(statement, "cases", ()):
            yield from _functions(case.body)
