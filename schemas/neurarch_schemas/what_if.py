"""The same model with other values: what a change of a key would do to the numbers. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from neurarch_schemas.documents.pointer import split_pointer
from neurarch_schemas.record import replace

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONValue


def with_values(analysis: Analysis, changes: Mapping[str, JSONValue]) -> Analysis:
    """The analysis as if the document held ``changes`` (JSON pointer -> value, objects on the way are made).

    Document and surroundings stay those of the file, so places of the result mean nothing; its numbers do. A change
    whose pointer leads through something that is no object is left out.
    """
    from neurarch_schemas.config.read import read_config

    data = analysis.document.data
    for pointer, value in changes.items():
        data = with_value(data, split_pointer(pointer), value)
    return replace(analysis, config=read_config(data, "params" if analysis.kind == "params" else "config"))


def with_value(data: JSONValue, path: tuple[str, ...], value: JSONValue) -> JSONValue:
    """A copy of ``data`` with one value replaced or added; containers beside the path are shared, not copied."""
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(data, list):
        if not head.isdecimal() or int(head) >= len(data):
            return data
        return [with_value(item, rest, value) if at == int(head) else item for at, item in enumerate(data)]
    if data is None:
        data = {}
    if not isinstance(data, dict):
        return data
    return {**data, head: with_value(data.get(head), rest, value)}
