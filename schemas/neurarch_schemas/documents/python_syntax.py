"""Where a Python text cannot be read."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple

from neurarch_schemas.documents.python_units import first_broken, normalized

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.documents.python_document import PythonDocument

_ENCODING = re.compile(r"(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=]")
_VERSION = ".".join(map(str, sys.version_info[:2]))


class PythonFault(NamedTuple):
    """``reader`` names what refuses the text: any Python, or the version that runs this check, which may be too old
    (or too new) for a file that is right elsewhere."""

    span: Span
    message: str
    reader: str
    is_certain: bool


def python_fault(document: PythonDocument) -> PythonFault | None:
    """The first place that cannot be read; None for a file that is read to its end."""
    broken = first_broken(document.text)
    if broken is None:
        return None
    text = normalized(document.text)
    byte = re.search("[\udc80-\udcff]", text)
    if byte is not None:
        if _ENCODING.match(text):
            return None
        message = f"byte 0x{ord(byte[0]) - 0xDC00:02X} is not UTF-8 and the file names no other encoding"
        return PythonFault(byte.span(), message, "Python", True)
    start, piece = broken
    damaged = any(start <= span[0] <= start + len(piece) for span in document.errors())
    # a statement that both readers refuse tells its fault itself; else the text may only be cut at the wrong place
    return _fault(piece, start, True) if damaged else _fault(text, 0, document.has_errors)


def _fault(text: str, start: int, is_damaged: bool) -> PythonFault | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        # the tolerant grammar knows newer statements, and no indentation
        certain = is_damaged or isinstance(error, IndentationError)
        message = (error.msg or "invalid syntax").removeprefix("invalid syntax. ")
        begin, end = _span(text, error)
        reader = "Python" if certain else f"Python {_VERSION}"
        return PythonFault((start + begin, start + end), message, reader, certain)
    except (ValueError, RecursionError, MemoryError) as error:
        return PythonFault((start, start), str(error) or type(error).__name__, f"Python {_VERSION}", False)
    return None


def _span(text: str, error: SyntaxError) -> Span:
    """The marked part of one line, else its statement; a bracket that is never closed alone."""
    lines = text.split("\n")
    line = min(error.lineno or 1, len(lines))
    begin, shown = sum(len(each) + 1 for each in lines[: line - 1]), lines[line - 1]
    start, end = min(max((error.offset or 1) - 1, 0), len(shown)), (error.end_offset or 0) - 1
    if error.end_lineno == line and start < end <= len(shown):
        return begin + start, begin + end
    if "never closed" in (error.msg or ""):
        return begin + start, begin + start + 1
    if isinstance(error, IndentationError) or not shown[start:].strip():
        start = len(shown) - len(shown.lstrip())
    return begin + start, begin + max(start, len(shown.rstrip()))
