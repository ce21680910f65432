"""From a document to what is known about it: the one entry that the command line and the server share."""

from __future__ import annotations

from neurarch_rules.engine.analyse import analyse

__all__ = ["analyse"]
