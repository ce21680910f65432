"""Writing suppression entries into a settings file, and finding where one stands."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from neurarch_rules.engine.options import Ignore

DEFAULT_FILE = "neurarch-lsp.toml"


def entry_text(entry: Ignore, is_project: bool) -> str:
    """One ``[[ignores]]`` table; in pyproject.toml below ``tool.neurarch-lsp``."""
    lines = [f"[[{'tool.neurarch-lsp.' if is_project else ''}ignores]]", f"file = {_string(entry.file)}"]
    if len(entry.rules) == 1:
        lines.append(f"rule = {_string(entry.rules[0])}")
    elif entry.rules:
        lines.append(f"rules = [{', '.join(map(_string, entry.rules))}]")
    if entry.pointer is not None:
        lines.append(f"pointer = {_string(entry.pointer)}")
    if entry.reason:
        lines.append(f"reason = {_string(entry.reason)}")
    return "\n".join(lines) + "\n"


def appended(text: str, entries: Sequence[Ignore], is_project: bool) -> str:
    """A settings file's text with entries added at its end, which is where a new array item always may stand."""
    head = text if not text or text.endswith("\n") else text + "\n"
    blocks = [entry_text(entry, is_project) for entry in entries]
    return head + ("\n" if head.strip() else "") + "\n".join(blocks)


def target(folder: str, settings_path: str | None) -> str:
    """The file entries are written to: the settings file in force, else a new one in ``folder``."""
    return settings_path or os.path.join(folder, DEFAULT_FILE)


def spans(text: str) -> list[tuple[int, int]]:
    """Where the ``[[ignores]]`` headers of a settings file stand, in order."""
    return [
        match.span()
        for match in re.finditer(
            r"(?m)^[ \t]*\[\[\s*(?:tool\s*\.\s*[\"']?neurarch-lsp[\"']?\s*\.\s*)?ignores\s*\]\]", text
        )
    ]


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = "".join(f"\\u{ord(character):04X}" if ord(character) < 32 else character for character in escaped)
    return f'"{escaped}"'
