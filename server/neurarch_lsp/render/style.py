"""Terminal colours, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

COLOURS = {"error": "31", "warning": "33", "info": "36", "hint": "2"}


class Style(NamedTuple):
    colour: bool = False

    def bold(self, text: str) -> str:
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        return self._wrap("2", text)

    def severity(self, severity: str, text: str) -> str:
        return self._wrap("1;" + COLOURS.get(severity, "0"), text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def wants_colour(choice: str, environment: Mapping[str, str], is_terminal: bool) -> bool:
    """``--color`` first, then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, then whether the output is a terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") != "0" or environment.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return is_terminal and environment.get("CLICOLOR", "1") != "0" and environment.get("TERM") != "dumb"
