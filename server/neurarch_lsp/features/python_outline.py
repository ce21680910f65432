"""What an editor shows about a module class of a Python file: one line, a hover, symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.features.outline import Symbol
from neurarch_lsp.features.python_models import ClassModel, Submodule, class_at, submodule_at
from neurarch_lsp.render.hover import Hover
from neurarch_lsp.render.markup import Block, Table, Text, code, escape
from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.accounting.quantities import binary_bytes
from neurarch_schemas.modules.tree import Module, Stack, rows, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ROWS = 24
BYTES = 2
"""Of one cached scalar: code does not say a dtype."""


def one_line(model: ClassModel) -> str:
    """ "GPT: 124,439,808 parameters as GPT(GPTConfig())"; what is not exact says why."""
    stale = " (last readable version)" if model.broken else ""
    if model.construction is None:
        return f"{model.name}: {model.reason}{stale}"
    if model.tree is None:
        return f"{model.name}: not known as {model.construction}: {model.reason}{stale}"
    total = count_parameters(model.tree).total
    if not model.exact:
        why = model.reason or "some shapes are known only after the first forward pass"
        return f"{model.name}: {model.about}{total:,} parameters as {model.construction} ({why}){stale}"
    return f"{model.name}: {total:,} parameters as {model.construction}{stale}"


def hover(models: Sequence[ClassModel], text: str, offset: int) -> Hover | None:
    """About the class or the submodule assignment at ``offset``."""
    model = class_at(models, offset)
    if model is not None:
        return Hover(model.name_span, tuple(class_blocks(model)))
    found = submodule_at(models, text, offset)
    return None if found is None else Hover(found.span, tuple(_submodule_blocks(found)))


def class_blocks(model: ClassModel) -> list[Block]:
    """Its line, its KV cache, and a table of its submodules."""
    blocks: list[Block] = [Text(escape(one_line(model)))]
    if model.tree is None:
        return blocks
    counted = count_parameters(model.tree)
    if counted.buffers:
        blocks.append(Text(f"Besides, {counted.buffers:,} scalars of buffers are stored."))
    cache = _cache_line(model.tree)
    if cache is not None:
        blocks.append(Text(cache))
    table = tuple(
        (code(name), _kind(child), f"{scalars:,}", _share(scalars, counted.total))
        for name, child in model.tree.children[:MAX_ROWS]
        if (scalars := _scalars(child)) or _kind(child)
    )
    if table:
        blocks.append(Table(("submodule", "class", "parameters", "share"), table))
    return blocks


def _cache_line(tree: Module) -> str | None:
    """The KV cache per token, or why it is not stated; None for a network without attention that decodes."""
    cache = kv_cache(tree)
    if cache is None or not cache.per_token:
        shapes = [visit.module for visit in walk(tree) if visit.module.part == "attention"]
        unclear = sorted({module.type for module in shapes if module.attention is None and module.children})
        if unclear:
            return f"KV cache: not stated, since it does not show what {code(unclear[0])} keeps."
        decodes = any(module.attention is not None and module.attention.kind != "encoder" for module in shapes)
        return "KV cache: not stated, since some layers keep a state that does not show." if decodes else None
    line = f"KV cache: {binary_bytes(cache.per_token * BYTES)} per token at {BYTES} bytes a scalar"
    windows = {entry.window: layers for entry, layers in cache.entries if entry.window is not None}
    if windows:
        told = ", ".join(f"{layers:,} layers keep {window:,} tokens" for window, layers in sorted(windows.items()))
        line += f"; {told}"
    if cache.per_token_expanded != cache.per_token:
        expanded = binary_bytes(cache.per_token_expanded * BYTES)
        line += f" (the latent; {expanded} where keys and values are kept instead)"
    return line + "."


def _submodule_blocks(found: Submodule) -> list[Block]:
    assert found.owner.tree is not None
    total, own = count_parameters(found.owner.tree).total, _scalars(found.part)
    about = found.owner.about
    line = f"**self.{escape(found.attribute)}**, {escape(_kind(found.part))}: {about}{own:,} parameters"
    if found.times > 1:
        line += f", {own * found.times:,} in all {found.times:,} instances"
    whole = f"{_share(own * found.times, total)} of {code(found.owner.construction)}"
    blocks: list[Block] = [Text(f"{line}; {whole}")]
    tensors = rows(_as_module(found.part))[:MAX_ROWS]
    if tensors:
        body = tuple(
            (code(row.name), " x ".join(f"{size:,}" for size in row.shape) or "scalar", f"{row.count:,}", row.kind)
            for row in tensors
        )
        blocks.append(Table(("tensor", "shape", "times", "kind"), body))
    return blocks


def symbols(models: Sequence[ClassModel], text: str) -> tuple[Symbol, ...]:
    """The module classes with the submodules of one instance."""
    return tuple(_symbol(model, text) for model in models)


def _symbol(model: ClassModel, text: str) -> Symbol:
    end = text.find("\n", model.name_span[1])
    span = (text.rfind("\n", 0, model.name_span[0]) + 1, len(text) if end < 0 else end)
    inner: tuple[Symbol, ...] = ()
    detail = model.reason or ""
    if model.tree is not None:
        detail = f"{model.about}{count_parameters(model.tree).total:,} parameters as {model.construction}"
        inner = tuple(
            Symbol(name, f"{_kind(child)}, {_scalars(child):,} parameters", "layers", span, model.name_span)
            for name, child in model.tree.children
        )
    return Symbol(model.name, detail, "object", span, model.name_span, inner)


def _as_module(part: Module | Stack) -> Module:
    return part if isinstance(part, Module) else Module("", children=(("0", part),))


def _scalars(part: Module | Stack) -> int:
    return count_parameters(_as_module(part)).total


def _kind(part: Module | Stack) -> str:
    if isinstance(part, Module):
        return part.type
    names = list(dict.fromkeys(module.type for run in part.runs for module in run.modules))
    return f"{part.length:,} x {', '.join(names[:3])}"


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.1f} %" if total else "0 %"
