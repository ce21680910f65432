"""Where long work is done: here, or wherever a server says, such as in a process beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Elsewhere = Callable[..., Any]
"""Called with a function of a module and its arguments, all of which can be pickled; gives what the function gives, or
raises NotDone."""


class NotDone(RuntimeError):
    """The work could not be done there, through no fault of what it was about."""


def here(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)
