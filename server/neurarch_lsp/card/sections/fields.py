"""The fields of the file as written, the defaults that apply besides, and the keys nobody reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from neurarch_lsp.render.card_blocks import Section, Table

if TYPE_CHECKING:
    from neurarch_rules.engine.finding import Finding
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONValue

LONGEST = 80


def section(analysis: Analysis, findings: Sequence[Finding] = ()) -> Section | None:
    data, config = analysis.document.data, analysis.config
    if not isinstance(data, dict):
        return None
    ignored = {
        finding.place.pointer.lstrip("/")
        for finding in findings
        if finding.place.pointer and "unnecessary" in finding.tags
    }
    not_read = _not_read(analysis)
    notes = dict.fromkeys(not_read, "not read by transformers") | dict.fromkeys(ignored, "ignored")
    written = tuple((key, compact(data[key]), notes.get(key, "")) for key in sorted(data))
    tables = [Table(("key", "value", "note"), written, caption=f"{len(written)} fields written")]
    defaults: tuple[tuple[str, str, str], ...] = ()
    if config is not None:
        defaults = tuple(
            (name, compact(setting.value), setting.origin)
            for name, setting in sorted(config.settings.items())
            if setting.origin != "written" and setting.value is not None
        )
        if defaults:
            tables.append(
                Table(("key", "value", "origin"), defaults, caption=f"{len(defaults)} defaults apply besides")
            )
    return Section(
        "fields",
        "Raw fields",
        tuple(tables),
        {
            "written": {key: data[key] for key in sorted(data)},
            "defaults": {name: value for name, value, _ in defaults},
            "ignored": sorted(ignored),
            "not_read": sorted(not_read),
        },
    )


def _not_read(analysis: Analysis) -> frozenset[str]:
    """Written keys that the config class of transformers does not know; code beside the file may read them."""
    from neurarch_rules.engine.context import Context
    from neurarch_rules.engine.options import Options
    from neurarch_rules.facts.keys import unread

    if analysis.config is None:
        return frozenset()
    return frozenset(key for key, _ in unread(Context(analysis, Options()), analysis.config))


def compact(value: JSONValue, longest: int = LONGEST) -> str:
    """One line; equal neighbours in arrays as "1x62", long values cut."""
    if isinstance(value, list) and len(value) > 3 and not any(isinstance(item, list | dict) for item in value):
        runs = [(len(list(group)), item) for item, group in groupby(value, key=lambda item: (type(item), item))]
        text = (
            "["
            + ", ".join(f"{json.dumps(item[1])}x{times}" if times > 1 else json.dumps(item[1]) for times, item in runs)
            + "]"
        )
    else:
        text = ""
        # Piece by piece: a value may be megabytes long.
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            text += piece
            if len(text) > longest:
                break
    return text if len(text) <= longest else text[: longest - 3] + "..."
