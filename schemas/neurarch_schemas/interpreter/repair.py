"""Text that is broken right now: the statements that cannot be parsed are cut, the rest keeps its lines.

Each top-level statement is looked at by itself. In a broken one the line Python complains about becomes ``pass`` (the
head of a block becomes ``if True:``), a few times over; what still cannot be parsed is left out whole.
"""

from __future__ import annotations

import ast
import re
import warnings

from neurarch_schemas.documents.python_units import split

_MOST_LINES = 12
"""Lines given up in one top-level statement before all of it is."""
_HEAD_OF = re.compile(r"on line (\d+)$")
_DEFINITION = re.compile(r"\s*(?:async\s+)?def\b")


def repair(text: str) -> tuple[str, tuple[int, ...]]:
    """The text without its broken statements, and the lines (from 1) that were given up; () where all is sound."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    pieces: list[str] = []
    lost: list[int] = []
    place = 0
    for start, piece in split(text):
        pieces.append(text[place:start])
        line = text.count("\n", 0, start)
        mended, lines = _mend(piece)
        pieces.append(mended)
        lost.extend(line + each for each in lines)
        place = start + len(piece)
    pieces.append(text[place:])
    return "".join(pieces), tuple(sorted(lost))


def _mend(piece: str) -> tuple[str, list[int]]:
    lines = piece.split("\n")
    lost: list[int] = []
    while True:
        error = _error("\n".join(lines))
        if error is None:
            return "\n".join(lines), lost
        head = _HEAD_OF.search(error.msg or "")
        at = int(head.group(1)) if head else error.lineno or 0
        if not 1 <= at <= len(lines) or at in lost or len(lost) >= _MOST_LINES:
            return "\n" * (len(lines) - 1), [lost[0] if lost else max(1, min(at, len(lines)))]
        lines[at - 1] = _instead(lines, at - 1)
        lost.append(at)


def _instead(lines: list[str], index: int) -> str:
    line = lines[index]
    indent = line[: len(line) - len(line.lstrip())]
    below = next((each for each in lines[index + 1 :] if each.strip()), "")
    if len(below) - len(below.lstrip()) <= len(indent):
        return indent + "pass"
    if _DEFINITION.match(line):
        return f"{indent}def neurarch_broken(self, *args, **kwargs):"
    return f"{indent}if True:"


def _error(text: str) -> SyntaxError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return SyntaxError("cannot be parsed")
    return None
