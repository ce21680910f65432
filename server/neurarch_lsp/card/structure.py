"""The network as a list of rows in the order a token passes them; equal layers stand once with a repeat count."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from neurarch_lsp.card.layer_order import Order, StructureRow, layer_rows, own_tensors, row_of
from neurarch_schemas.config.language_model import language_config
from neurarch_schemas.modules.tree import TOWERS, Module, Run, Stack, walk
from neurarch_schemas.record import replace

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig

MOST_ROWS = 20_000
INPUTS = {"vision": "pixels", "audio": "audio features"}

PLACES = {
    "patch_embed": -3, "conv2d1": -3, "conv2d2": -3, "conv2d3": -3, "conv_out": -3, "post_conv_layernorm": -2,
    "embeddings": -1, "layernorm_post": 1, "post_layernorm": 1, "post_tile_positional_embedding": 2, "downsample": 2,
    "global_transformer": 3, "merger": 3, "vision_adapter": 3,
}  # fmt: skip
"""Where children of a tower stand that their class registers elsewhere; layers and all others are at 0."""
MERGERS = frozenset({"downsample", "merger", "vision_adapter"})
"""What makes fewer positions of a tower's, which are as many as the language model sees."""


def rows(analysis: Analysis, *, expand: bool = False) -> tuple[StructureRow, ...]:
    """Folded, or with ``expand`` every layer by itself (at most 20,000 rows)."""
    tree, config = analysis.built.tree, analysis.config
    if tree is None or config is None:
        return ()
    text = language_config(config)
    found: list[StructureRow] = []
    seen: set[str | None] = set()
    placed = not any(
        visit.part not in TOWERS
        and visit.module.attention is not None
        and visit.module.attention.position in ("rope", "partial rope")
        for visit in walk(tree)
    )
    listed = list(_Rows(expand, Order.of(text)).inside(tree, "", None))
    two_sided = config.get("is_encoder_decoder") is True and any(_is_of("encoder", row) for row in listed)
    for row in sorted(listed, key=lambda row: _stage(row, two_sided)):
        if two_sided and "decoder" not in seen and _is_of("decoder", row):
            seen.add("decoder")
            found.append(StructureRow("decoder input", "token ids", None, 0, 0, kind="input"))
        if row.kind == "embedding" and not row.parameters and _is_embedded(found):
            continue  # another name of the embedding before
        if row.tower not in seen and row.tower != "projector":
            seen.add(row.tower)
            found.append(_input(row.tower, config))
        if not placed and row.group is not None and row.tower is None:
            found.append(StructureRow("rotary_emb", "RoPE", None, 0, 0, kind="position"))
            placed = True
        if row.tower == "projector" and row.width is None and isinstance(width := text.get("hidden_size"), int):
            row = replace(row, width=width)
        found.append(_named_head(row, text) if row.kind == "head" else row)
    return (*found[:MOST_ROWS], _output(found[-1] if found else None))


def _is_embedded(found: list[StructureRow]) -> bool:
    """Whether what was last put in has been embedded."""
    kinds = (row.kind for row in reversed(found) if row.kind in ("input", "embedding"))
    return next(kinds, "input") == "embedding"


def _stage(row: StructureRow, two_sided: bool) -> int:
    """Towers before the language model, whose embeddings come first, and a text encoder before its decoder; within a
    stage the order of registration."""
    if row.tower is not None:
        return 0
    early = "per_layer" in row.name or row.name.endswith("layernorm_embedding")
    first = row.group is None and (row.kind in ("embedding", "position") or early)
    decodes = two_sided and (_is_of("decoder", row) or row.kind == "head")
    return (3 if decodes else 1) + (0 if first else 1)


def _is_of(side: str, row: StructureRow) -> bool:
    return row.tower is None and f".{side}." in f".{row.name}"


def _input(tower: str | None, config: ModelConfig) -> StructureRow:
    """What a tower, or the language model, reads; a network without a vocabulary reads pixels or audio."""
    if tower is None and not isinstance(config.get("vocab_size"), int) and config.get("patch_size") is not None:
        tower = "vision"
    name = INPUTS.get(tower or "", "token ids")
    return StructureRow("input" if name == "token ids" else f"{tower} input", name, None, 0, 0, kind="input")


def _named_head(row: StructureRow, text: ModelConfig) -> StructureRow:
    """A single matrix is the head of a language model where it is as wide as the vocabulary."""
    if row.type != "LM head" or row.width is None or row.width == text.get("vocab_size"):
        return row
    return replace(row, type="classifier")


def _output(last: StructureRow | None) -> StructureRow:
    name = "hidden states"
    if last is not None and last.kind == "head":
        name = "pooled output" if last.type.endswith("Pooler") else "logits"
    return StructureRow("output", name, None, 0, 0, kind="output")


class _Rows:
    """Builds rows; a module that stands in several places is measured once."""

    def __init__(self, expand: bool, order: Order) -> None:
        self.expand = expand
        self.order = order
        self.group = 0
        self.layers: dict[tuple[int, bool], list[StructureRow]] = {}

    def inside(self, module: Module, path: str, tower: str | None) -> Iterator[StructureRow]:
        """Rows of a module's children; one whose descendants hold a list of layers is opened, any other is one row."""
        own = own_tensors(module, path)
        if own is not None:
            yield replace(own, tower=tower)
        children = module.children if tower is None else sorted(module.children, key=_place_in_tower)
        for name, child in children:
            inner = f"{path}.{name}" if path else name
            if isinstance(child, Stack):
                yield from self.stack(child, inner, tower)
                continue
            where = tower or (child.part if child.part in TOWERS else None)
            if where is not None and (child.part == "projector" or name in MERGERS):
                where = "projector"
            if _has_stack(child):
                yield from self.inside(child, inner, where)
            else:
                yield replace(row_of(child, inner), tower=where)

    def stack(self, stack: Stack, path: str, tower: str | None) -> Iterator[StructureRow]:
        index = stack.first_index
        for run in stack.runs:
            self.group += 1
            if self.expand and run.length <= MOST_ROWS:
                for offset in range(run.length):
                    module = run.modules[offset % len(run.modules)]
                    for row in self.layer(module, tower):
                        name = _below(f"{path}.{index + offset}", row.name)
                        yield replace(row, name=name, group=self.group, index=str(index + offset))
            else:
                yield from self.folded(run, path, index, tower)
            index += run.length

    def folded(self, run: Run, path: str, first: int, tower: str | None) -> Iterator[StructureRow]:
        """Equal neighbours within a cycle of the run stand once too."""
        period, offset = len(run.modules), 0
        for _, equal in groupby(run.modules, key=id):
            repeat = len(list(equal))
            where = str(first + offset) if repeat == 1 else f"{first + offset}-{first + offset + repeat - 1}"
            if run.times > 1:
                where += f", every {period}" if period > repeat else f"-{first + run.length - 1}"
            changes = {"times": run.times * repeat, "repeat": repeat, "cycles": run.times}
            for row in self.layer(run.modules[offset], tower):
                yield replace(row, name=_below(f"{path}.{{}}", row.name), group=self.group, index=where, **changes)
            offset += repeat

    def layer(self, module: Module, tower: str | None) -> list[StructureRow]:
        key = (id(module), tower is None)
        found = self.layers.get(key)
        if found is None:
            plain = layer_rows(module, self.order if tower is None else Order())
            found = self.layers[key] = [replace(row, tower=tower) for row in plain]
        return found


def _place_in_tower(child: tuple[str, Module | Stack]) -> int:
    return PLACES.get(child[0], 0)


def _below(path: str, names: str) -> str:
    """ "layers.{}" and "fc1, fc2" as "layers.{}.fc1, layers.{}.fc2"."""
    return ", ".join(f"{path}.{name}" for name in names.split(", ")) if names else path


def _has_stack(module: Module) -> bool:
    return (
        any(isinstance(child, Stack) or _has_stack(child) for _, child in module.children) and module.attention is None
    )
