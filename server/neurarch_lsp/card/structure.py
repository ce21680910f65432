"""The network as a list of rows in the order a token passes them; equal layers stand once with a repeat count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_lsp.render.model_numbers import attention_name
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.modules.tree import Module, Run, Stack, Visit, walk
from neurarch_schemas.record import Record, replace

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis

MOST_ROWS = 20_000


class StructureRow(Record):
    """``width`` is the size of the last dimension that goes out (None: as before); ``times`` how many stand here.

    ``group`` numbers the run of layers the row is in, None outside of one; ``index`` is the layer's number or range.
    """

    name: str
    type: str
    width: int | None
    parameters: int
    cache_per_token: int
    times: int = 1
    group: int | None = None
    index: str = ""
    kind: str = "block"
    """What the row is drawn as: "input", "embedding", "norm", "attention", "mixer", "experts", "add", "head" ..."""


def rows(analysis: Analysis, *, expand: bool = False) -> tuple[StructureRow, ...]:
    """Folded, or with ``expand`` every layer by itself (at most 20,000 rows)."""
    tree = analysis.built.tree
    if tree is None:
        return ()
    body = list(_Rows(expand).inside(tree, ""))
    found = [StructureRow("input", "token ids", None, 0, 0, kind="input")]
    rotary = any(
        visit.module.attention is not None and visit.module.attention.position in ("rope", "partial rope")
        for visit in walk(tree)
    )
    placed = not rotary
    for row in body:
        if not placed and row.group is not None:
            found.append(StructureRow("rotary_emb", "RoPE", None, 0, 0, kind="position"))
            placed = True
        found.append(row)
    found.append(
        StructureRow("output", "logits" if found[-1].kind == "head" else "hidden states", None, 0, 0, kind="output")
    )
    return tuple(found[:MOST_ROWS])


class _Rows:
    """Builds rows; a module that stands in several places is measured once."""

    def __init__(self, expand: bool) -> None:
        self.expand = expand
        self.group = 0
        self.layers: dict[int, list[StructureRow]] = {}

    def inside(self, module: Module, path: str) -> Iterator[StructureRow]:
        """Rows of a module's children; one whose descendants hold a list of layers is opened, any other is one row."""
        for name, child in module.children:
            inner = f"{path}.{name}" if path else name
            if isinstance(child, Stack):
                yield from self.stack(child, inner)
            elif _has_stack(child):
                yield from self.inside(child, inner)
            else:
                yield row_of(child, inner)

    def stack(self, stack: Stack, path: str) -> Iterator[StructureRow]:
        index = stack.first_index
        for run in stack.runs:
            self.group += 1
            if self.expand and run.length <= MOST_ROWS:
                for offset in range(run.length):
                    module = run.modules[offset % len(run.modules)]
                    for row in self.layer(module):
                        name = _below(f"{path}.{index + offset}", row.name)
                        yield replace(row, name=name, group=self.group, index=str(index + offset))
            else:
                yield from self.folded(run, path, index)
            index += run.length

    def folded(self, run: Run, path: str, first: int) -> Iterator[StructureRow]:
        period = len(run.modules)
        for offset, module in enumerate(run.modules):
            where = str(first + offset)
            if run.times > 1:
                where += f"-{first + offset + period * (run.times - 1)}" + (f" step {period}" if period > 1 else "")
            for row in self.layer(module):
                name = _below(f"{path}.{{}}", row.name)
                yield replace(row, name=name, times=run.times, group=self.group, index=where)

    def layer(self, module: Module) -> list[StructureRow]:
        found = self.layers.get(id(module))
        if found is None:
            found = self.layers[id(module)] = layer_rows(module)
        return found


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if name else path


def layer_rows(layer: Module) -> list[StructureRow]:
    """The blocks of one layer in the order of the residual stream: norm, mixer, add, norm, feed-forward, add.

    Trees list children as the class registers them, so norms are paired with blocks by how many there are; where
    neither pre-norm, post-norm, both, nor a parallel layer fits, registration order stands. Names are relative.
    """
    plain = [(name, child) for name, child in layer.children if isinstance(child, Module)]
    if layer.attention is not None or not plain or len(plain) != len(layer.children):
        return [row_of(layer, "")]
    found = [row_of(child, name) for name, child in plain if child.tensors or child.children]
    norms = [row for row in found if row.kind == "norm"]
    blocks = sorted(
        (row for row in found if row.kind != "norm"), key=lambda row: row.kind not in ("attention", "mixer")
    )
    add = StructureRow("residual", "add", None, 0, 0, kind="add")
    if not blocks:
        return norms
    if len(norms) == 2 * len(blocks):
        return [part for i, block in enumerate(blocks) for part in (norms[2 * i], block, norms[2 * i + 1], add)]
    if len(norms) == len(blocks):
        after = all(norm.name.startswith("post") for norm in norms) and len(norms) > 1
        pairs = zip(norms, blocks, strict=True)
        return [part for norm, block in pairs for part in ((block, norm, add) if after else (norm, block, add))]
    if len(norms) == 1:
        return [norms[0], *blocks, add]
    return found


def row_of(module: Module, path: str) -> StructureRow:
    visits = tuple(walk(module))
    caches = sum(-(-cache.per_token // cache.tokens_per_entry) for visit in visits for cache in visit.module.caches)
    kind, name = _kind(module, visits)
    return StructureRow(path, name, module.width_out, count_parameters(module).total, caches, kind=kind)


def _kind(module: Module, visits: tuple[Visit, ...]) -> tuple[str, str]:
    parts = {visit.part for visit in visits}
    shape = next((visit.module.attention for visit in visits if visit.module.attention is not None), None)
    if module.lookup or module.part == "embedding":
        return "embedding", "Embedding"
    if module.part == "position":
        return "position", "position embedding"
    if module.part == "norm":
        return "norm", module.type
    if module.part == "head":
        return "head", "LM head" if not module.children else module.type
    if shape is not None and shape.kind != "linear":
        return "attention", attention_name(shape)
    if shape is not None or parts & {"state space", "linear attention"}:
        return "mixer", "state space" if "state space" in parts else "linear attention"
    if "experts" in parts:
        routing = next((visit.module.routing for visit in visits if visit.module.routing), None)
        size = f" {routing.total}, top {routing.active}" if routing else ""
        return "experts", f"MoE{size}" + (" + shared" if "shared experts" in parts else "")
    if "feed-forward" in parts:
        return "feed-forward", "feed-forward"
    return "block", module.type


def _has_stack(module: Module) -> bool:
    return (
        any(isinstance(child, Stack) or _has_stack(child) for _, child in module.children) and module.attention is None
    )
