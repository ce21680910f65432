"""A config call in a statement that cannot be parsed right now: each argument that can be read by itself is."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from neurarch_schemas.documents.python_units import Placed, Unit

if TYPE_CHECKING:
    from neurarch_schemas.config_calls.names import Names
    from neurarch_schemas.config_calls.reader import Pair, Reader
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.documents.json_value import JSONValue
    from neurarch_schemas.documents.nodes import Node

TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[rbfuRBFU]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.)*?(?:'''|\Z)
        |"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?))
    |(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<line>\n)
    |(?P<name>[A-Za-z_][\w.]*)|(?P<other>[^\s\w]|\d[\w.]*)""",
    re.VERBOSE | re.DOTALL,
)
PAIRS = {"(": ")", "[": "]", "{": "}"}
_KEYWORD = re.compile(r"\s*([A-Za-z_]\w*)[ \t]*=(?!=)\s*")
_STATEMENT = re.compile(
    r"(?:def|class|return|if|for|while|with|import|from|assert|raise|del|pass|try|else|elif)\b|@"
    r"|[\w.\[\]\"']+[ \t]*=(?!=)|[\w.]+\("
)
_NEXT_KEYWORD = re.compile(r"\n(?=[ \t]*[A-Za-z_]\w*[ \t]*=(?!=))")


class Opened(NamedTuple):
    """A call as far as its brackets tell: ``start`` is that of the callee, ``opening`` of its bracket."""

    start: int
    opening: int
    end: int
    segments: tuple[Span, ...]


def calls(text: str, start: int, end: int, names: Names) -> Iterator[tuple[Opened, ast.expr]]:
    """The outermost config calls of a damaged statement, each with its callee."""
    at = start
    while (match := TOKEN.search(text, at, end)) is not None:
        at = match.end()
        if match.lastgroup != "name" or text[at : at + 1] != "(":
            continue
        callee = _expression(match.group())
        if callee is not None and is_config(callee, names):
            found = opened(text, match.start(), at, end)
            yield found, callee
            at = max(found.end, at + 1)


def is_config(callee: ast.expr, names: Names) -> bool:
    """Whether what is called is a config class of transformers, or ``AutoConfig.for_model``."""
    if isinstance(callee, ast.Attribute) and callee.attr == "for_model":
        return names.qualified(callee.value) == "transformers.AutoConfig"
    return names.model_type(callee) is not None


def opened(text: str, start: int, opening: int, end: int) -> Opened:
    """The arguments of a call that may lack its closing bracket."""
    indent = _column(text, start)
    waiting: list[str] = [")"]
    segments: list[Span] = []
    begin = at = opening + 1
    while (match := TOKEN.search(text, at, end)) is not None:
        at, kind = match.end(), match.lastgroup
        if kind == "open":
            waiting.append(PAIRS[match.group()])
        elif kind == "close":
            if match.group() in waiting:
                while waiting.pop() != match.group():
                    pass
            if not waiting:
                return Opened(start, opening, at, (*segments, (begin, match.start())))
        elif kind == "comma" and len(waiting) == 1:
            segments.append((begin, match.start()))
            begin = at
        elif kind == "line" and _ends_here(text, at, indent):
            return Opened(start, opening, match.start(), (*segments, (begin, match.start())))
    return Opened(start, opening, end, (*segments, (begin, end)))


def read(
    text: str,
    call: Opened,
    callee: ast.expr,
    reader: Reader,
    names: Names,
    pointer: str = "",
    positional: tuple[str, ...] = (),
) -> Node:
    """As ``Reader.object``; an argument that cannot be read makes its key unknown."""
    extra: dict[str, JSONValue] = {}
    pairs: list[Pair] = []
    for number, segment in enumerate(call.segments):
        pairs += _pairs(text, segment, reader, names, pointer, positional[number : number + 1])
    model_type = names.model_type(callee)
    if model_type is not None:
        extra["model_type"] = model_type
    return reader.node((call.start, call.end), pairs, pointer, extra)


def _pairs(
    text: str, segment: Span, reader: Reader, names: Names, pointer: str, positional: tuple[str, ...]
) -> Iterator[Pair]:
    begin, end = segment
    if not text[begin:end].strip():
        return
    parsed = _parsed(text, segment)
    if parsed is not None:
        node, placed = parsed
        yield from reader.arguments(node, placed, pointer, positional)
        return
    later = _NEXT_KEYWORD.search(text, begin + 1, end)
    if later is not None and text[begin : later.start()].strip():
        yield from _pairs(text, (begin, later.start()), reader, names, pointer, positional)
        yield from _pairs(text, (later.start(), end), reader, names, pointer, ())
        return
    written = _KEYWORD.match(text, begin, end)
    if written is None:
        return
    key = written[1], written.span(1)
    inner = next(calls(text, written.end(), end, names), None)
    if inner is not None and inner[0].start == written.end():
        where = f"{pointer}/{key[0]}"
        child = read(text, inner[0], inner[1], reader, names, where)
        yield *key, (inner[0].start, inner[0].end), child.data, child
        return
    value = written.end(), written.end() + len(text[written.end() : end].rstrip())
    reader.unknown[f"{pointer}/{key[0]}"] = value
    yield *key, value, None, None


def _parsed(text: str, segment: Span) -> tuple[ast.Call, Placed] | None:
    source = f"f({text[segment[0] : segment[1]]}\n)"
    tree = _module(source)
    statement = tree.body[0] if tree is not None and len(tree.body) == 1 else None
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    return statement.value, Placed(Unit(source, (statement,)), segment[0] - 2)


def _expression(source: str) -> ast.expr | None:
    tree = _module(source)
    statement = tree.body[0] if tree is not None and tree.body else None
    return statement.value if isinstance(statement, ast.Expr) else None


def _module(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _column(text: str, offset: int) -> int:
    start = text.rfind("\n", 0, offset) + 1
    return len(text[start:offset]) - len(text[start:offset].lstrip())


def _ends_here(text: str, line: int, indent: int) -> bool:
    """Whether the line that begins at ``line`` is surely the next statement and no argument."""
    blank = re.compile(r"[ \t]*").match(text, line)
    at = line if blank is None else blank.end()
    return at - line <= indent and _STATEMENT.match(text, at) is not None
