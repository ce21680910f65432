"""JSON of long answers, made off the event loop: thousands of items take longer than other requests may wait."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from neurarch_lsp.features.poll import Poll

AT_ONCE = 64
"""Items encoded between two looks at whether the answer is still wanted."""


class Encoded(bytes):
    """JSON that stands in an answer as it is."""


def encoded(value: object, unstructure: Callable[[Any], Any], poll: Poll) -> Encoded:
    """``value`` in UTF-8; ``unstructure`` makes plain values of LSP's. The items of an iterator are made as they are
    encoded, so that never all of them are there at once."""
    if isinstance(value, Encoded):
        return value
    if not isinstance(value, list | Iterator):
        return Encoded(json.dumps(unstructure(value)).encode())
    return Encoded(b"[%b]" % b", ".join(_in_parts(iter(value), unstructure, poll)))


def _in_parts(items: Iterator[object], unstructure: Callable[[Any], Any], poll: Poll) -> Iterator[bytes]:
    while some := list(islice(items, AT_ONCE)):
        poll()
        yield json.dumps(unstructure(some))[1:-1].encode()
