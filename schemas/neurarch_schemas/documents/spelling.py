"""How keys and values of a config are spelled: in JSON, or in Python code that constructs the config."""

from __future__ import annotations

import json
import math
import re
from typing import NamedTuple

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Spelling(NamedTuple):
    """``quote`` is the kind of quotes for Python strings; JSON has one."""

    python: bool = False
    quote: str = '"'

    def string(self, value: str) -> str:
        """The string in quotes; lone surrogates, which no encoding can hold, as escapes."""
        spelled = json.dumps(value, ensure_ascii=False)
        if not spelled.isascii() and _LONE_SURROGATE.search(spelled):
            spelled = json.dumps(value)
        if self.quote == '"' or "'" in value:
            return spelled
        # What JSON escapes, Python reads alike.
        return "'" + spelled[1:-1].replace('\\"', '"') + "'"

    def scalar(self, value: bool | int | float | None) -> str:
        if not self.python:
            return json.dumps(value)
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        return repr(value)

    def key(self, name: str, argument: bool) -> str:
        """``argument``: the key is a keyword of a call, not of a dict."""
        return name if argument and name.isidentifier() else self.string(name)


JSON = Spelling()
