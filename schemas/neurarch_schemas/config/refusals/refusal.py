from __future__ import annotations

from neurarch_schemas.record import Record


class Refusal(Record):
    """Why transformers 5.24 builds no model from a config."""

    message: str
    """One sentence without a full stop, with the values of the file."""
    pointer: str
    """The config object that is refused: "" or "/text_config"."""
    keys: tuple[str, ...]
    """Canonical names of the keys that decide it."""
    told_by: str | None = None
    """The rule that finds the same and says more about it."""
