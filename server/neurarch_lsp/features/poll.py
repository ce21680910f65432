"""What reads a whole document asks between two steps whether its outcome is still wanted."""

from __future__ import annotations

from collections.abc import Callable

Poll = Callable[[], None]
"""Raises when nobody waits for the outcome any more."""


def never() -> None:
    """For work that runs to its end."""
