"""Why no number can be given. The text reaches the user as the ``reason`` of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_schemas.modules.tree import Module


class CannotBuild(Exception):
    """The tensors cannot be derived; ``str(error)`` is the reason, one sentence without a full stop.

    ``keys`` are the config keys (canonical names) that stand in the way, where known. ``caching`` is a tree without
    tensors that holds the attention layers only, where these are certain and the tensors are not.
    """

    def __init__(self, reason: str, keys: tuple[str, ...] = (), caching: Module | None = None) -> None:
        super().__init__(reason)
        self.keys = keys
        self.caching = caching
