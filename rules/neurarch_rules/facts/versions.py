"""Which transformers version a workspace uses, as far as it says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context

Version = tuple[int, ...]
Range = tuple[Version, Version | None]
"""From (inclusive) to (exclusive, None: open)."""

V5: Range = ((5, 0), None)
SPECIFIER = re.compile(r"(===|==|~=|>=|<=|!=|>|<)?\s*v?(\d+(?:\.\d+)*)")


def parse(text: object) -> Version | None:
    """The leading numbers of a version: ``parse("4.55.0.dev0") == (4, 55, 0)``."""
    if not isinstance(text, str):
        return None
    match = re.match(r"\s*v?(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def stated(context: Context) -> str | None:
    """The setting ``transformers-version``, else what requirements beside the document name."""
    return context.options.transformers_version or context.analysis.folder.requirements.get("transformers")


def bounds(specifier: str) -> Range | None:
    """The versions a specifier allows, as one range: "==5.2.0", ">=4.45,<5", "5.2"; None when it says nothing."""
    low: Version = (0,)
    high: Version | None = None
    said = False
    for operator, number in SPECIFIER.findall(specifier):
        version = tuple(int(part) for part in number.split("."))
        said = True
        if operator in ("", "==", "==="):
            low, high = version, _after(version)
        elif operator == "~=":
            low, high = version, _after(version[:-1] or version)
        elif operator == ">=":
            low = max(low, version)
        elif operator == ">":
            low = max(low, _after(version))
        elif operator in ("<", "<="):
            bound = version if operator == "<" else _after(version)
            high = bound if high is None else min(high, bound)
        elif operator == "!=":
            continue
    return (low, high) if said else None


def names(context: Context, affected: Range) -> bool:
    """The workspace names a version, pinned at the bottom of its range, that lies in ``affected``."""
    specifier = stated(context)
    found = bounds(specifier) if specifier else None
    if found is None:
        return False
    low, high = found
    if high is None or _pad(high) > _pad(_after(low)):
        # an open range ("transformers>=4.40") pins nothing
        return (
            _inside(low, affected) and high is not None and affected[1] is not None and _pad(high) <= _pad(affected[1])
        )
    return _inside(low, affected)


def excludes(context: Context, affected: Range) -> bool:
    """The workspace names a version range with nothing of ``affected`` in it."""
    specifier = stated(context)
    found = bounds(specifier) if specifier else None
    if found is None:
        return False
    low, high = found
    below = high is not None and _pad(high) <= _pad(affected[0])
    above = affected[1] is not None and _pad(low) >= _pad(affected[1])
    return below or above


def saved_by(context: Context) -> Version | None:
    """The version that wrote the file, by its own ``transformers_version``."""
    data = context.analysis.document.data
    return parse(data.get("transformers_version")) if isinstance(data, dict) else None


def _inside(version: Version, affected: Range) -> bool:
    return _pad(version) >= _pad(affected[0]) and (affected[1] is None or _pad(version) < _pad(affected[1]))


def _after(version: Version) -> Version:
    """The next version at the same depth: 5.2 -> 5.3, 5.2.0 -> 5.2.1."""
    return (*version[:-1], version[-1] + 1)


def _pad(version: Version) -> Version:
    return (*version, 0, 0, 0, 0)[:4]
