"""The module tree: what a network is made of, written once for each distinct layer.

A tree is built by ``architectures`` (from a config) or ``interpreter`` (from Python source) and read by
``accounting``. Equal layers are one object with a repeat count, so nothing here grows with the number of layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Literal, NamedTuple

from neurarch_schemas.record import Record

TensorKind = Literal["parameter", "buffer"]
Part = Literal[
    "embedding",
    "position",
    "attention",
    "linear attention",
    "state space",
    "convolution",
    "feed-forward",
    "router",
    "experts",
    "shared experts",
    "norm",
    "head",
    "vision",
    "audio",
    "projector",
    "other",
]


TOWERS: frozenset[Part] = frozenset({"vision", "audio", "projector"})
"""Parts that read an input of their own; what stands inside of one is of it, whatever it is."""


class Tensor(NamedTuple):
    """A parameter or persistent buffer; ``name`` is relative to the module that owns it.

    ``tied_to`` is the full name of the tensor whose storage this one shares: it is listed, never counted.
    """

    name: str
    shape: tuple[int, ...]
    kind: TensorKind = "parameter"
    tied_to: str | None = None

    @property
    def scalars(self) -> int:
        return prod(self.shape)


class Cache(NamedTuple):
    """What one layer keeps for one sequence, in scalars (not bytes).

    A layer may own several, e.g. a sliding window of keys and values beside a recurrent state.
    """

    kind: Literal["full", "sliding", "chunked", "latent", "index", "compressed", "recurrent", "convolution", "cross"]
    per_token: int = 0
    """Scalars added by one more cached position (keys and values, a latent, or index keys)."""
    window: int | None = None
    """Positions kept by a serving engine; transformers keeps one fewer after a forward pass."""
    tokens_per_entry: int = 1
    """Compressed caches store one entry for this many tokens."""
    constant: int = 0
    """Scalars that do not depend on the sequence length (recurrent and convolution state)."""
    expanded_per_token: int | None = None
    """For a latent: scalars of the keys and values an engine without latent caching would store."""
    source_length: int | None = None
    """For cross attention: the encoder's declared length in tokens."""
    transformers_window: int | None = None
    """Positions transformers keeps, where that is not ``window - 1``."""
    remainder_of: int | None = None
    """Keeps only the tokens since the last whole group of this many (a compressor's buffer): bounded, not growing."""
    constant_from: int = 0
    """The constant part exists once the sequence has this many tokens."""


class Selection(NamedTuple):
    """Which keys a query of sparse attention attends to, instead of all before it, and what finding them costs."""

    most: int | None = None
    """Keys chosen at most; None where all are attended to."""
    tokens_per_key: int = 1
    """Tokens that a compressed key stands for."""
    local: int = 0
    """Keys of the last tokens that are attended to besides, uncompressed."""
    index_width: int = 0
    """Multiply-accumulates of the indexer for each candidate; 0 for a layer that uses another one's choice."""
    tokens_per_candidate: int = 1


class AttentionShape(NamedTuple):
    """The geometry that attention cost and labels (MHA, GQA, MQA, MLA) are derived from."""

    heads: int
    kv_heads: int
    qk_dim: int
    v_dim: int
    kind: Literal["full", "sliding", "chunked", "latent", "sparse", "linear", "cross", "encoder"] = "full"
    window: int | None = None
    causal: bool = True
    qk_norm: bool = False
    position: str | None = None
    """How positions enter: "rope", "partial rope", "alibi", "learned", "relative", "none"; None where unknown."""
    latent_dim: int | None = None
    """MLA: kv_lora_rank + qk_rope_head_dim."""
    selection: Selection | None = None


class Routing(NamedTuple):
    """On the module that holds routed experts: ``active`` of ``total`` experts work on each token."""

    total: int
    active: int
    fused: bool = True


class ShapeProblem(Record):
    """Two widths that must agree and do not, found while building."""

    message: str
    left: int
    right: int
    keys: tuple[str, ...] = ()
    """The config keys both sides come from, where known."""


class Module(NamedTuple):
    """One node. ``children`` are in registration order; a Stack child is an indexed list (``layers.{}``)."""

    type: str
    tensors: tuple[Tensor, ...] = ()
    children: tuple[tuple[str, Module | Stack], ...] = ()
    part: Part | None = None
    """The part of the network this belongs to; children without one inherit it, all children in a tower do."""
    routing: Routing | None = None
    attention: AttentionShape | None = None
    caches: tuple[Cache, ...] = ()
    multiply_accumulates: int = 0
    """Per token, of this module's own matrices (children not included, attention scores not included)."""
    lookup: bool = False
    """An input embedding: read by index, so left out of ``active``."""
    width_in: int | None = None
    width_out: int | None = None
    """Size of the last dimension that comes in and goes out, where the module fixes it."""
    problems: tuple[ShapeProblem, ...] = ()
    label: str | None = None
    """A short description for people, e.g. "GQA 48:8"; derived from the numbers, never from a model name."""
    passes: int = 1
    """How often a forward pass runs it (looped layers); its parameters are there once."""

    def child(self, path: str) -> Module | Stack:
        """The descendant at a dotted path of plain children. Raises KeyError when there is none."""
        node: Module | Stack = self
        for name in path.split("."):
            if not isinstance(node, Module):
                raise KeyError(path)
            for child_name, child in node.children:
                if child_name == name:
                    node = child
                    break
            else:
                raise KeyError(path)
        return node

    def with_(self, **changes: Any) -> Module:
        return self._replace(**changes)


class Run(NamedTuple):
    """``times`` repetitions of a short sequence of modules (one period of a layer pattern)."""

    modules: tuple[Module, ...]
    times: int = 1

    @property
    def length(self) -> int:
        return len(self.modules) * self.times


class Stack(NamedTuple):
    """An indexed list of modules (ModuleList, Sequential) as a run-length list."""

    runs: tuple[Run, ...]
    first_index: int = 0

    @property
    def length(self) -> int:
        return sum(run.length for run in self.runs)

    def distinct(self) -> list[tuple[Module, int]]:
        """Each module object of the list, in order of first appearance, with the number of times it stands there."""
        items: dict[int, Module] = {}
        counts: dict[int, int] = {}
        for modules, times in self.runs:
            for item in modules:
                key = id(item)
                items[key] = item
                counts[key] = counts.get(key, 0) + times
        return list(zip(items.values(), counts.values(), strict=True))


class Row(Record):
    """Tensors that share a name pattern, shape and kind; ``{}`` stands for each index in the name."""

    name: str
    shape: tuple[int, ...]
    kind: TensorKind
    count: int

    @property
    def scalars(self) -> int:
        return prod(self.shape) * self.count


class Visit(NamedTuple):
    """A module met while walking a tree: its full name pattern, how often it stands there, and the part it is in."""

    path: str
    module: Module
    times: int
    part: Part
    routing: Routing | None = None
    """The nearest routing at or above this module."""
    passes: int = 1
    """How often a forward pass runs it, loops around it counted."""


def join(path: str, name: str) -> str:
    """Append a child's name; a numeric component becomes ``{}`` as in checkpoint name patterns.

    An empty name adds nothing: an item of a list of parameters is named by its index alone.
    """
    if "." in name or name.isdecimal():
        name = ".".join("{}" if piece.isdecimal() else piece for piece in name.split("."))
    return f"{path}.{name}" if path and name else path or name


def walk(module: Module, path: str = "") -> Iterator[Visit]:
    """Every distinct module of a tree in order, once with its multiplicity; cost is that of the distinct layers."""
    found: list[Visit] = []
    _visit(found, module, path, 1, "other", None, 1)
    return iter(found)


def _visit(
    found: list[Visit], module: Module, path: str, times: int, part: Part, routing: Routing | None, passes: int
) -> None:
    if part not in TOWERS:
        part = module.part or part
    routing = module.routing or routing
    passes *= module.passes
    found.append(Visit(path, module, times, part, routing, passes))
    for name, child in module.children:
        child_path = join(path, name)
        if isinstance(child, Module):
            _visit(found, child, child_path, times, part, routing, passes)
        else:
            item_path = join(child_path, "0")
            for item, count in child.distinct():
                _visit(found, item, item_path, times * count, part, routing, passes)


def rows(module: Module) -> tuple[Row, ...]:
    """The tensors of a tree merged by (pattern, shape, kind), tied ones left out, in order of first appearance."""
    counts: dict[tuple[str, tuple[int, ...], TensorKind], int] = {}
    for visit in walk(module):
        for tensor in visit.module.tensors:
            if tensor.tied_to is None:
                key = (join(visit.path, tensor.name), tensor.shape, tensor.kind)
                counts[key] = counts.get(key, 0) + visit.times
    return tuple(Row(name, shape, kind, count) for (name, shape, kind), count in counts.items() if count)


def children(**modules: Module | Stack | None) -> tuple[tuple[str, Module | Stack], ...]:
    """Named children in the order written; None means "not built"."""
    return tuple((name, module) for name, module in modules.items() if module is not None)


def named(modules: Mapping[str, Module | Stack | None]) -> tuple[tuple[str, Module | Stack], ...]:
    """As ``children``, for names that are not Python identifiers ("0", "out_proj.0")."""
    return tuple((name, module) for name, module in modules.items() if module is not None)


def stack(*modules: Module, times: int = 1, first_index: int = 0) -> Stack:
    """``stack(layer, times=62)`` is 62 equal layers; ``stack(a, b)`` is two different ones."""
    return Stack((Run(modules, times),) if modules and times > 0 else (), first_index)


def concatenate(*stacks: Stack) -> Stack:
    """One list out of several, in order."""
    return Stack(
        tuple(run for part in stacks for run in part.runs if run.length), stacks[0].first_index if stacks else 0
    )
