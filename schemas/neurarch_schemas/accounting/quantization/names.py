"""Module names as quantization lists write them, matched against names in a tree.

Lists name modules as the checkpoint does ("language_model.model.layers.3.block_sparse_moe.experts.0.w1"), the tree
as the model class does ("model.layers.3.mlp.experts"); both are brought to one spelling before they are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import cached_property
from itertools import accumulate

from neurarch_schemas.record import Record

_RENAMED = {"block_sparse_moe": "mlp", "feed_forward": "mlp", "ffn": "mlp"}
_DROPPED = frozenset({"model", "language_model"})


def canonical(name: str) -> str:
    """Wrapper components dropped, feed-forward names unified, single experts folded into their list."""
    kept: list[str] = []
    for piece in name.split("."):
        if piece in _DROPPED:
            continue
        kept.append(_RENAMED.get(piece, piece))
        if piece == "experts":
            break
    return ".".join(kept)


class Names(Record):
    """Names (whole component sequences) and patterns ("re:..." as compressed-tensors reads them, or shell patterns)."""

    exact: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    prefixes: tuple[str, ...] = ()
    """Shell patterns that only end in a star: by far the most, and a prefix test is much quicker."""

    @staticmethod
    def of(written: Iterable[object]) -> Names:
        exact: set[str] = set()
        patterns: list[re.Pattern[str]] = []
        prefixes: list[str] = []
        # A list may name each matrix of each expert, tens of thousands, one behind the other.
        experts = "\0"
        for name in written:
            if type(name) is not str or name.startswith(experts):
                continue
            if "*" not in name and not name.startswith("re:"):
                exact.add(canonical(name))
                end = name.find(".experts.")
                experts = name[: end + len(".experts.")] if end >= 0 else experts
                continue
            if not name.startswith("re:") and not any(letter in name[:-1] for letter in "*?["):
                prefixes.append(name[:-1])
                continue
            try:
                patterns.append(re.compile(name[3:] if name.startswith("re:") else translate(name)))
            except re.error:
                exact.add(name)
        return Names(frozenset(exact), tuple(patterns), tuple(prefixes))

    @cached_property
    def first_pieces(self) -> frozenset[str]:
        """The components that exact names begin with, few where names are many."""
        return frozenset([name.partition(".")[0] for name in self.exact])

    def __bool__(self) -> bool:
        return bool(self.exact or self.patterns or self.prefixes)

    def match(self, name: str, pieces: Sequence[str]) -> bool:
        """``pieces`` are the components of the canonical ``name``."""
        for start, piece in enumerate(pieces):
            if piece in self.first_pieces and not self.exact.isdisjoint(accumulate(pieces[start:], "{}.{}".format)):
                return True
        if not self.prefixes and not self.patterns:
            return False
        spellings = (name, name.replace("model.", "", 1), f"language_model.{name}")
        if any(spelling.startswith(self.prefixes) for spelling in spellings):
            return True
        return any(pattern.match(spelling) for pattern in self.patterns for spelling in spellings)
