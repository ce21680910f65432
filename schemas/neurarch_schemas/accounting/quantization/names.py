"""Module names as quantization lists write them, matched against names in a tree.

Lists name modules as the checkpoint does ("language_model.model.layers.3.block_sparse_moe.experts.0.w1"), the tree
as the model class does ("model.layers.3.mlp.experts"); both are brought to one spelling before they are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import cached_property, reduce
from itertools import accumulate, repeat
from typing import NamedTuple, TypeVar

from neurarch_schemas.record import Record

T = TypeVar("T")

_RENAMED = {"block_sparse_moe": "mlp", "feed_forward": "mlp", "ffn": "mlp"}
EXPERTS = ".experts."
_DROPPED = frozenset({"model", "language_model"})


class Name(NamedTuple):
    """A module's name as the tree has it, and its canonical spelling."""

    written: str
    spelling: str

    def child(self, key: str) -> Name:
        written, spelling = self
        return Name(f"{written}.{key}" if written else key, _below(spelling, key))


def canonical(name: str) -> str:
    """Wrapper components dropped, feed-forward names unified, single experts folded into their list."""
    return reduce(_below, name.split("."), "")


def _below(spelling: str, key: str) -> str:
    if key in _DROPPED or spelling.endswith(".experts") or spelling == "experts":
        return spelling
    if "." in key:
        return reduce(_below, key.split("."), spelling)
    key = _RENAMED.get(key, key)
    return f"{spelling}.{key}" if spelling else key


def fold_experts(named: Iterable[tuple[str, T]]) -> list[tuple[str, T]]:
    """Names with what is said of them, without experts behind another of their list of which the same is said.

    A file may name each matrix of each expert, tens of thousands; their canonical name is one.
    """
    kept: list[tuple[str, T]] = []
    experts, before = "\0", None
    for name, said in named:
        if said == before and name.startswith(experts):
            continue
        kept.append((name, said))
        end = name.find(EXPERTS)
        experts, before = (name[: end + len(EXPERTS)], said) if end >= 0 and "*" not in name else ("\0", None)
    return kept


class Names(Record):
    """Names (whole component sequences) and patterns ("re:..." as compressed-tensors reads them, or shell patterns)."""

    exact: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    prefixes: tuple[str, ...] = ()
    """Shell patterns that only end in a star: by far the most, and a prefix test is much quicker."""

    @staticmethod
    def of(written: Iterable[str]) -> Names:
        exact: set[str] = set()
        patterns: list[re.Pattern[str]] = []
        prefixes: list[str] = []
        for name, _ in fold_experts(zip(written, repeat(None))):
            if "*" not in name and not name.startswith("re:"):
                exact.add(canonical(name))
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

    @cached_property
    def last_pieces(self) -> frozenset[str]:
        """The components that exact names end with."""
        return frozenset([name.rpartition(".")[2] for name in self.exact])

    def __bool__(self) -> bool:
        return bool(self.exact or self.patterns or self.prefixes)

    def match(self, name: Name) -> bool:
        written, spelling = name
        if spelling in self.exact:
            return True
        pieces = spelling.split(".")
        if not self.last_pieces.isdisjoint(pieces):
            for start, piece in enumerate(pieces):
                if piece in self.first_pieces and not self.exact.isdisjoint(accumulate(pieces[start:], "{}.{}".format)):
                    return True
        if not self.prefixes and not self.patterns:
            return False
        spellings = (written, written.replace("model.", "", 1), f"language_model.{written}")
        if any(spelling.startswith(self.prefixes) for spelling in spellings):
            return True
        return any(pattern.match(spelling) for pattern in self.patterns for spelling in spellings)
