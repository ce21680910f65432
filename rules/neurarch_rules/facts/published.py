"""The sizes of published models, and those of a config, side by side.

``published_sizes.tsv`` is written by tools/record_published.py: a line for each geometry and model type, under the name
of one model that has it.
"""

from __future__ import annotations

import os
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.facts import geometry
from neurarch_rules.facts.geometry import Named, named
from neurarch_rules.facts.places import as_written, whole_number
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig

FEED_FORWARD = ("moe_intermediate_size", "intermediate_size", "ffn_hidden_size", "n_inner", "d_ff", "ffn_dim")
"""The width of one routed expert where there are experts, else of the feed-forward network."""
VOCABULARY = ("vocab_size", "padded_vocab_size")
RESIZED = 200
"""Vocabularies that differ by a two-hundredth are one vocabulary with added tokens, or padded to another multiple."""


class Sizes(NamedTuple):
    """``feed_forward`` is 0 where it is not one number for all layers."""

    layers: int
    hidden_size: int
    heads: int
    kv_heads: int
    head_dim: int
    feed_forward: int
    vocab_size: int

    def has_vocabulary_of(self, other: Sizes) -> bool:
        return RESIZED * abs(self.vocab_size - other.vocab_size) <= max(self.vocab_size, other.vocab_size)


class Published(Record):
    """``family``: what the names of related types begin with, "qwen2" of qwen2_5_vl.

    ``thetas``: the rope_theta values that models of this line are published with, as far as they are known.
    """

    sizes: Sizes
    type: str
    name: str
    family: str
    thetas: frozenset[float]


class Measured(Record):
    """The sizes of a config, and by their names in ``Sizes`` the keys they are read from and which of them it gives."""

    sizes: Sizes
    keys: dict[str, str]
    written: frozenset[str]


def measured(config: ModelConfig, outer: ModelConfig) -> Measured | None:
    """None where a size is not known, and for latent attention, which has no KV heads.

    ``outer`` is the document's own config: some composites give the vocabulary there.
    """
    if geometry.is_latent(config):
        return None
    layers, hidden, heads = geometry.layers(config), geometry.hidden_size(config), geometry.heads(config)
    vocabulary = named(config, VOCABULARY) or named(outer, VOCABULARY)
    head_dim = geometry.head_dim(config)
    if layers is None or hidden is None or heads is None or vocabulary is None or not head_dim:
        return None
    kv_heads = geometry.kv_heads(config) or Named("num_key_value_heads", heads.value)
    feed_forward = named(config, FEED_FORWARD) or Named(FEED_FORWARD[0], 0)
    sizes = Sizes(
        layers.value,
        hidden.value,
        heads.value,
        kv_heads.value,
        head_dim,
        feed_forward.value,
        vocabulary.value,
    )
    names = (layers.key, hidden.key, heads.key, kv_heads.key, "head_dim", feed_forward.key, vocabulary.key)
    keys = dict(zip(Sizes._fields, names, strict=True))
    if any(_is_unreadable(config, keys[size]) for size in ("kv_heads", "head_dim")):
        return None
    written = {size for size, key in keys.items() if _is_given(config, key)}
    if _is_given(outer, vocabulary.key):
        written.add("vocab_size")
    return Measured(sizes, keys, frozenset(written))


def _is_given(config: ModelConfig, key: str) -> bool:
    """Null leaves a size to the class."""
    setting = as_written(config, key)
    return setting is not None and setting.origin == "written" and whole_number(setting.value) is not None


def _is_unreadable(config: ModelConfig, key: str) -> bool:
    """Written as something else than a number: one for each layer, or a text."""
    setting = as_written(config, key)
    return setting is not None and setting.value is not None and whole_number(setting.value) is None


def model_types(*configs: ModelConfig) -> frozenset[str]:
    """The types a geometry is looked up by; the text part of a composite counts as the composite."""
    return frozenset(config.model_type.removesuffix("_text") for config in configs)


def only_difference(
    mine: Measured, types: frozenset[str], sizes: frozenset[str], *, related: bool
) -> tuple[Published, str] | None:
    """The published model that differs in one of ``sizes`` alone, and in which; None where one differs in nothing.

    It is of one of ``types`` or, where ``related`` ones count, of their families; of several the one of the same type
    with the nearest vocabulary.
    """
    families = {_family(model_type) for model_type in types} if related else set()
    found: list[tuple[bool, int, tuple[Published, str]]] = []
    candidates = with_layers(mine.sizes.layers)
    if "layers" in sizes:
        candidates += with_hidden_size(mine.sizes.hidden_size)
    for published in candidates:
        is_related = published.type in types or published.family in families
        if is_related or published.sizes[:-1] == mine.sizes[:-1]:
            apart = _apart(mine.sizes, published.sizes)
            if not apart:
                return None
            size = _cause(apart, mine.written)
            if size in sizes and is_related:
                tokens = abs(published.sizes.vocab_size - mine.sizes.vocab_size)
                found.append((published.type not in types, tokens, (published, size)))
    return min(found, key=lambda item: item[:2])[2] if found else None


def same_sizes(mine: Measured, types: frozenset[str]) -> tuple[Published, ...]:
    """The published models of these types and their families that have all sizes; the nearest vocabulary first."""
    families = {_family(model_type) for model_type in types}
    found = [
        entry
        for entry in with_layers(mine.sizes.layers)
        if entry.family in families and not _apart(mine.sizes, entry.sizes)
    ]
    found.sort(key=lambda entry: (entry.type not in types, abs(entry.sizes.vocab_size - mine.sizes.vocab_size)))
    return tuple(found)


def _family(model_type: str) -> str:
    """The letters a name begins with and the digits behind them."""
    letters = len(model_type) - len(model_type.lstrip("abcdefghijklmnopqrstuvwxyz"))
    digits = len(model_type) - len(model_type[letters:].lstrip("0123456789"))
    return model_type[:digits] or model_type


def _apart(a: Sizes, b: Sizes) -> set[str]:
    apart = {name for name, left, right in zip(Sizes._fields, a, b, strict=True) if left != right}
    return apart - {"vocab_size"} if a.has_vocabulary_of(b) else apart


def _cause(apart: set[str], written: frozenset[str]) -> str:
    """The one size that makes the difference, those that follow from it left out; "" where there are several."""
    if len(apart) > 1:
        derived = {size for size, sources in DERIVED.items() if size not in written and apart & sources}
        apart = apart - derived
    return next(iter(apart)) if len(apart) == 1 else ""


DERIVED = {"head_dim": {"hidden_size", "heads"}, "kv_heads": {"heads"}, "feed_forward": {"hidden_size"}}
"""What a class computes a size from where the file does not give it."""


@lru_cache(maxsize=64)
def with_layers(count: int) -> tuple[Published, ...]:
    """The published models with this many layers."""
    start = f"{count}\t"
    return tuple(_published(line) for line in _lines() if line.startswith(start))


@lru_cache(maxsize=64)
def with_hidden_size(size: int) -> tuple[Published, ...]:
    return tuple(entry for entry in everything() if entry.sizes.hidden_size == size)


@cache
def everything() -> tuple[Published, ...]:
    return tuple(map(_published, _lines()))


@cache
def _lines() -> tuple[str, ...]:
    with open(os.path.join(os.path.dirname(__file__), "published_sizes.tsv"), encoding="utf-8") as file:
        return tuple(file.read().splitlines()[1:])


def _published(line: str) -> Published:
    *sizes, thetas, model_type, name, _ = line.split("\t")
    known = frozenset(map(float, thetas.split(","))) if thetas else frozenset()
    return Published(Sizes(*map(int, sizes)), model_type, name, _family(model_type), known)
