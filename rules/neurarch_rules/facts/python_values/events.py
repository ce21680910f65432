"""What constructors surely do."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from neurarch_rules.facts.python_file import Site
from neurarch_rules.facts.python_values.values import Instance, Layer, Value


@dataclass(frozen=True)
class Made:
    """A layer is surely made when ``construction`` is evaluated."""

    layer: Layer
    construction: Site


@dataclass(frozen=True)
class Refused:
    """``test`` is surely false in an assert, or true before a raise; ``names`` are the values it reads."""

    site: Site
    test: ast.expr
    values: tuple[tuple[str, Value], ...]
    construction: Site
    explicit: bool
    """A construction written in the file, not the class's own defaults."""


@dataclass(frozen=True)
class Tied:
    """``a.weight = b.weight`` of two layers whose sizes are known as far as their arguments."""

    site: Site
    target: Layer
    source: Layer
    construction: Site


@dataclass(frozen=True)
class Built:
    """A module of the file is surely constructed; ``times`` counts the loop or comprehension it stands in, 1 outside.

    ``value`` gives an expression over the instance (``self.config.block_size``) as its methods see it.
    """

    instance: Instance
    times: int
    site: Site
    construction: Site
    value: Callable[[ast.expr, str], Value]


@dataclass
class Events:
    built: list[Built] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    tied: list[Tied] = field(default_factory=list)

    def add(self, other: Events) -> None:
        self.built += other.built
        self.made += other.made
        self.refused += other.refused
        self.tied += other.tied
