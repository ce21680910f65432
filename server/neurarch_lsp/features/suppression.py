"""Saying that a finding is fine: an entry in the settings file, or a comment in Python."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_schemas.documents.document import TextEdit

if TYPE_CHECKING:
    from neurarch_rules.engine.finding import Finding
    from neurarch_schemas.documents.line_index import LineIndex

_INLINE = re.compile(r"^(\s*ignores\s*=\s*\[)", re.MULTILINE)
NEW_FILE = "neurarch-lsp.toml"


@dataclass(frozen=True, slots=True)
class Suppression:
    """``path`` is the settings file to edit, ``exists`` False when it must be made."""

    title: str
    path: str
    exists: bool
    edit: TextEdit


def in_settings(finding: Finding, path: str, settings_path: str | None, text: str, root: str | None) -> Suppression:
    """An entry for this rule at this place of the file at ``path``.

    ``settings_path`` and ``text`` are the nearest settings file, None and "" when there is none: then one is made in
    ``root`` (the workspace folder), else beside the file.
    """
    target = settings_path or os.path.join(root or os.path.dirname(path), NEW_FILE)
    entry = {"file": os.path.relpath(path, os.path.dirname(target)).replace(os.sep, "/"), "rule": finding.rule}
    if finding.place.pointer:
        entry["pointer"] = finding.place.pointer
    entry["reason"] = ""
    pairs = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    inline = _INLINE.search(text) if settings_path else None
    if inline is not None:
        edit = TextEdit((inline.end(), inline.end()), "\n  { " + ", ".join(pairs) + " },")
    else:
        header = "[[tool.neurarch-lsp.ignores]]" if os.path.basename(target) == "pyproject.toml" else "[[ignores]]"
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        edit = TextEdit((len(text), len(text)), gap + header + "\n" + "\n".join(pairs) + "\n")
    place = f" at {finding.place.pointer}" if finding.place.pointer else " in this file"
    title = f"Ignore {finding.rule}{place} ({os.path.basename(target)})"
    return Suppression(title, target, settings_path is not None, edit)


def in_python(finding: Finding, offset: int, text: str, lines: LineIndex) -> TextEdit:
    """A comment at the end of the line, joined with one that is there."""
    line = lines.line_of(offset)
    written = lines.line_text(line)
    end = lines.line_end(line)
    there = re.search(r"#\s*neurarch:\s*ignore\[([^\]]*)\]", written)
    if there is not None:
        at = lines.line_start(line) + there.end(1)
        return TextEdit((at, at), f", {finding.rule}")
    gap = "" if text[end - 1 : end].isspace() else "  "
    return TextEdit((end, end), f"{gap}# neurarch: ignore[{finding.rule}]")
