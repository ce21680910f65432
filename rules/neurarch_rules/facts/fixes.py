"""Fixes made of minimal edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.engine.finding import Applicability, Fix
from neurarch_schemas.documents import json_edits
from neurarch_schemas.documents.pointer import join_pointer

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import TextEdit
    from neurarch_schemas.documents.json_value import JSONValue


def replace_value(
    analysis: Analysis, pointer: str, value: JSONValue, title: str, applicability: Applicability = "safe"
) -> tuple[Fix, ...]:
    return _fix(title, applicability, json_edits.replace_value(analysis.document, pointer, value))


def rename_key(
    analysis: Analysis, pointer: str, name: str, title: str, applicability: Applicability = "safe"
) -> tuple[Fix, ...]:
    return _fix(title, applicability, json_edits.rename_key(analysis.document, pointer, name))


def remove(analysis: Analysis, pointer: str, title: str, applicability: Applicability = "safe") -> tuple[Fix, ...]:
    return _fix(title, applicability, json_edits.remove_pair(analysis.document, pointer))


def set_value(
    analysis: Analysis, parent: str, key: str, value: JSONValue, title: str, applicability: Applicability = "safe"
) -> tuple[Fix, ...]:
    """Replace the value where the key is written, else insert the pair at the end of the object."""
    return _fix(title, applicability, json_edits.set_value(analysis.document, join_pointer(parent, key), value))


def combined(title: str, applicability: Applicability, *parts: tuple[TextEdit, ...]) -> tuple[Fix, ...]:
    return _fix(title, applicability, tuple(edit for part in parts for edit in part))


def _fix(title: str, applicability: Applicability, edits: tuple[TextEdit, ...] | None) -> tuple[Fix, ...]:
    """No fix where the edit cannot be made (the place is damaged or absent)."""
    return (Fix(title, applicability, tuple(edits)),) if edits else ()
