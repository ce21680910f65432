"""A Python text as its top-level statements, each parsed by itself and kept by content.

An edit costs the parse of the statement it touches; a statement that is broken right now is left out and the others
stay readable. ``ast`` reads four times faster than a walk over a concrete syntax tree.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from neurarch_schemas.documents.python_nodes import children, nodes, nodes_of

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span

KEPT = 600
"""Statements kept by content: those of a few large files."""
_LONG_STRING = re.compile(r"'''|\"\"\"")
_BEGINS = re.compile(r"^(?=[^\s#)\]}\\])", re.MULTILINE)
_WORD = re.compile(r"\w+")
_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b")


class Unit:
    """One top-level statement (with its decorators), independent of where it stands. Lines count from 1."""

    def __init__(self, text: str, body: tuple[ast.stmt, ...]) -> None:
        self.text = text
        self.body = body

    @cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        """Every call by the last name of what is called."""
        found: dict[str, list[ast.Call]] = {}
        for statement in self.body:
            for call in nodes_of(statement, ast.Call):
                function = call.func
                name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                found.setdefault(name, []).append(call)
        return found

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """What each node stands in; a statement of the top level in itself."""
        found: dict[ast.AST, ast.AST] = {}
        for statement in self.body:
            found[statement] = statement
            for node in nodes(statement):
                found |= dict.fromkeys(children(node), node)
        return found

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal texts."""
        return blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name the text mentions in any way, also in a string."""
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def named(self) -> dict[str, list[ast.Name]]:
        """Where each name stands, in the order of the text."""
        found: dict[str, list[ast.Name]] = {}
        every = (node for statement in self.body for node in nodes_of(statement, ast.Name))
        for node in sorted(every, key=lambda node: (node.lineno, node.col_offset)):
            found.setdefault(node.id, []).append(node)
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that may be those of the module level: parameters in their function are not."""
        own: set[ast.AST] = set()
        found: set[str] = set()
        for statement in self.body:
            functions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = [
                *nodes_of(statement, ast.FunctionDef),
                *nodes_of(statement, ast.AsyncFunctionDef),
                *nodes_of(statement, ast.Lambda),
            ]
            for function in functions:
                given = {item.arg for item in nodes_of(function.args, ast.arg)}
                for part in function.body if isinstance(function.body, list) else [function.body]:
                    own.update(name for name in nodes_of(part, ast.Name) if name.id in given)
            found.update(name.id for name in nodes_of(statement, ast.Name) if name not in own)
        return frozenset(found)

    @cached_property
    def imports(self) -> tuple[ast.Import | ast.ImportFrom, ...]:
        if "import" not in self.text:
            return ()
        return tuple(
            node for item in self.body for node in nodes(item) if isinstance(node, ast.Import | ast.ImportFrom)
        )

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.text.split("\n"))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Offset of each line."""
        return (0, *(match.end() for match in re.finditer("\n", self.text)))

    def offset(self, line: int, column: int) -> int:
        """``column`` is in bytes of UTF-8, as ``ast`` counts."""
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self.starts[line - 1] + column

    def span(self, node: ast.AST) -> Span:
        """Relative to the unit."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        start = self.offset(line, column)
        end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
        return start, start if end_line is None or end_column is None else self.offset(end_line, end_column)


@dataclass(frozen=True, slots=True)
class Placed:
    """A unit at its offset in the text."""

    unit: Unit
    start: int

    def span(self, node: ast.AST) -> Span:
        start, end = self.unit.span(node)
        return self.start + start, self.start + end


@lru_cache(maxsize=2)
def split(text: str) -> tuple[tuple[int, str], ...]:
    """Offset and text of each top-level statement, damaged ones among them; kept while one check asks for it twice."""
    inside = _long_strings(text)
    starts: list[int] = []
    decorated = False
    for match in _BEGINS.finditer(text):
        at = match.start()
        if inside and bisect_right(inside, at) % 2:
            continue
        if _CONTINUES.match(text, at) or (decorated and starts):
            decorated = text[at] == "@"
            continue
        decorated = text[at] == "@"
        starts.append(at)
    return tuple((start, text[start:end]) for start, end in pairwise((*starts, len(text))))


def _long_strings(text: str) -> list[int]:
    """Where triple-quoted strings open and close, in turn."""
    edges: list[int] = []
    opened = ""
    for match in _LONG_STRING.finditer(text):
        if not opened:
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if line.lstrip().startswith("#"):
                continue
            opened = match[0]
            edges.append(match.start() + 1)
        elif match[0] == opened:
            opened = ""
            edges.append(match.end())
    return edges


def normalized(text: str) -> str:
    """One kind of line end, no byte order mark and no page breaks, at the same offsets."""
    text = text.replace("\r\n", " \n").replace("\r", "\n").replace("\n\f", "\n\n").replace("\f", " ")
    if text.startswith("\ufeff"):
        text = " " + text[1:]
        text = "\n" + text[1:] if text[1:2] not in ("\n", " ") else text
    return text


def units(text: str) -> tuple[Placed, ...]:
    """The statements that can be parsed, in order."""
    found: list[Placed] = []
    for start, piece in split(normalized(text)):
        unit = _unit(piece)
        if unit is not None:
            found.append(Placed(unit, start))
    return tuple(found)


def first_broken(text: str) -> tuple[int, str] | None:
    """The first statement that cannot be parsed by itself, or what stands indented before all; None in a sound text."""
    text = normalized(text)
    first = _BEGINS.search(text)
    before = text if first is None else text[: first.start()]
    if any(line.strip() and not line.lstrip().startswith("#") for line in before.split("\n")):
        return 0, before
    return next(((start, piece) for start, piece in split(text) if _unit(piece) is None), None)


@lru_cache(maxsize=KEPT)
def _unit(text: str) -> Unit | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Unit(text, tuple(tree.body))


__all__ = ["Placed", "Unit", "first_broken", "normalized", "split", "units"]
