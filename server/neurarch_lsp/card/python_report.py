"""``--report FILE.py`` and ``FILE.py:EXPRESSION``: the module classes of a Python file, by interpretation alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neurarch_lsp.render.report_json import Entry, failed_entry, kv_cache_entry, parameters_entry
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.interpreter import Interpretation, SourceCache
    from neurarch_schemas.modules.tree import Module

SPLIT = ".py:"
NO_CLASS = "no module class is defined here"
_MOST_SECONDS = 60.0
"""For all the classes of one file together."""


class Construction(Record):
    """One module class or expression: its 1-based line (None for an expression) and what evaluating it gave."""

    name: str
    line: int | None
    construction: str | None
    tree: Module | None
    exact: bool
    reason: str | None
    incomplete: bool = False
    """Something has no known shape: the count is a lower bound."""


def shapeless(incomplete: bool) -> str:
    """What a tensor without sizes is, of a construction that may lack shapes."""
    return "unknown or scalar" if incomplete else "scalar"


def is_python(name: str) -> bool:
    return name.endswith(".py") or SPLIT in name


def split(name: str) -> tuple[str, str | None]:
    """ "model.py:GPT(GPTConfig())" as path and expression; only the first colon after ".py" splits."""
    path, separator, expression = name.partition(SPLIT)
    return (path + ".py", expression) if separator else (name, None)


def constructions(
    path: str, expression: str | None, search_paths: Sequence[str], text: str | None = None
) -> list[Construction] | str:
    """What a file builds, or why nothing can be said; ``text`` stands for what the file holds."""
    if text is None and not os.path.isfile(path):
        return "cannot be read: No such file or directory"
    from neurarch_schemas.interpreter import REPORT, SourceCache, interpret, interpret_file

    cache = SourceCache()
    if expression is not None:
        written, within = (path, None) if text is None else (text, path)
        result = interpret(written, expression, search_paths, REPORT, path=within, cache=cache)
        return [_construction(expression, None, expression, result)]
    found: list[Construction] = []
    for each, built in interpret_file(path, search_paths, REPORT, seconds=_MOST_SECONDS, cache=cache, text=text):
        if built is None:
            found.append(Construction(each.name, each.line, None, None, False, each.reason))
        else:
            found.append(_construction(each.name, each.line, each.construction or "", built))
    if not found:
        return _unreadable(cache.text(path) if text is None else text, cache) or found
    return found


def _unreadable(text: str | None, cache: SourceCache) -> str | None:
    """Why the text of a file is no Python, as far as that is so."""
    if text is None:
        return "cannot be read: it is too large, or no text"
    try:
        cache.tree(text)
    except SyntaxError as error:
        where = "" if error.lineno is None else f"line {error.lineno}: "
        return f"cannot be parsed: {where}{error.msg}"
    return None


def _construction(name: str, line: int | None, text: str, result: Interpretation) -> Construction:
    return Construction(name, line, text, result.tree, result.exact, result.reason, result.incomplete)


def python_entry(name: str, search_paths: Sequence[str], contexts: Sequence[int], text: str | None = None) -> Entry:
    path, expression = split(name)
    found = constructions(path, expression, search_paths, text)
    if isinstance(found, str):
        return failed_entry(name, found)
    entry: Entry = {**failed_entry(path, ""), "error": None, "models": [_model(item) for item in found]}
    if not found:
        entry["error"] = NO_CLASS
    if expression is not None:
        (only,) = found
        entry |= {"construction": expression} | {key: _model(only)[key] for key in ("parameters", "tensors")}
        if only.tree is not None:
            from neurarch_schemas.accounting.kv_cache import kv_cache

            cache = kv_cache(only.tree)
            entry["kv_cache"] = None if cache is None else kv_cache_entry(cache, "bfloat16", contexts or (8192,))
    return entry


def _model(item: Construction) -> Entry:
    from neurarch_schemas.accounting.parameters import count_parameters
    from neurarch_schemas.modules.tree import rows

    counted = None if item.tree is None else count_parameters(item.tree)
    tensors = (
        None if item.tree is None else [[row.name, list(row.shape), row.kind, row.count] for row in rows(item.tree)]
    )
    known = None if item.incomplete else counted
    parameters = parameters_entry(known, exact=item.exact, reason=item.reason)
    if item.incomplete and counted is not None:
        parameters["at_least"] = counted.total
    return {
        "name": item.name,
        "line": item.line,
        "construction": item.construction,
        "parameters": parameters,
        "tensors": tensors if item.exact else None,
    }


def python_text(name: str, search_paths: Sequence[str]) -> Iterator[str]:
    """Lines for a terminal."""
    path, expression = split(name)
    found = constructions(path, expression, search_paths)
    yield path
    if isinstance(found, str):
        yield f"  {found}"
        return
    if not found:
        yield f"  {NO_CLASS}"
    from neurarch_schemas.accounting.kv_cache import kv_cache
    from neurarch_schemas.accounting.parameters import count_parameters
    from neurarch_schemas.modules.tree import rows

    for item in found:
        where = "" if item.line is None else f":{item.line}"
        if item.tree is None:
            yield f"  {item.name}{where}  {item.construction or ''}  not known: {item.reason}"
            continue
        counted = count_parameters(item.tree)
        label = "exact" if item.exact else f"estimated: {item.reason}"
        buffers = f", {counted.buffers:,} scalars of buffers" if counted.buffers else ""
        least = "at least " if item.incomplete else ""
        yield f"  {item.name}{where}  {item.construction}  {least}{counted.total:,} parameters{buffers}, {label}"
        if expression is not None:
            cache = kv_cache(item.tree)
            if cache is not None:
                yield f"    KV cache: {cache.per_token:,} scalars per token, {2 * cache.per_token:,} bytes in bfloat16"
            for row in rows(item.tree):
                shape = " x ".join(f"{size:,}" for size in row.shape) or shapeless(item.incomplete)
                yield f"    {row.name:<56} {shape:>24}  x{row.count:,}{'' if row.kind == 'parameter' else '  buffer'}"
