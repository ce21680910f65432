"""JSON of long answers, made off the event loop: thousands of items take longer than other requests may wait."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from neurarch_lsp.features.poll import Poll

AT_ONCE = 64
"""Items encoded between two looks at whether the answer is still wanted."""


class Encoded(bytes):
    """JSON that stands in an answer as it is."""


def encoded(value: object, unstructure: Callable[[Any], Any], poll: Poll) -> Encoded:
    """``value`` in UTF-8; ``unstructure`` makes plain values of LSP's."""
    if not isinstance(value, list):
        return Encoded(json.dumps(unstructure(value)).encode())
    parts = []
    for start in range(0, len(value), AT_ONCE):
        poll()
        parts.append(json.dumps(unstructure(value[start : start + AT_ONCE]))[1:-1])
    return Encoded(f"[{', '.join(parts)}]".encode())
