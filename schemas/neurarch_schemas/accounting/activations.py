"""Activations kept for the backward pass, in scalars per token, derived from the tree.

Kept are: the input of every matrix (matrices that read the same input share it), the input of every norm, queries,
keys and values, and what activation functions read. For a GPT layer of width h in 16 bits this gives the 32 h of
Korthikanti et al. 2022 (arXiv:2205.05198, section 4.1: 34 h with the two dropout masks, which are left out here). Fused
attention kernels keep no scores; without one, each head keeps ``2 + 2 + 1`` bytes a pair of positions (same source).
"""

from __future__ import annotations

from neurarch_schemas.modules.tree import Module, Part, Run, Stack

OUTSIDE: frozenset[Part] = frozenset({"embedding", "position", "vision", "audio", "projector"})


def scalars_per_token(tree: Module) -> int:
    """Of the whole network, head included; towers, which do not work on text tokens, left out."""
    return _of(tree)


def towers(tree: Module, tower: Part) -> tuple[Module, ...]:
    """The networks of a tower, as networks by themselves: what this module says of tokens is then of its positions."""
    if tree.part == tower:
        return (_inherits(tree, tower),)
    return tuple(found for _, child in tree.children if isinstance(child, Module) for found in towers(child, tower))


def _inherits(module: Module, tower: Part) -> Module:
    """Without the part that stands for the whole tower; norms are norms again."""
    children: list[tuple[str, Module | Stack]] = []
    for name, child in module.children:
        if isinstance(child, Module):
            children.append((name, _inherits(child, tower)))
        else:
            runs = (Run(tuple(_inherits(item, tower) for item in run.modules), run.times) for run in child.runs)
            children.append((name, Stack(tuple(runs), child.first_index)))
    part: Part | None = "norm" if module.type.endswith("Norm") else None if module.part == tower else module.part
    return module.with_(part=part, children=tuple(children))


def boundary_scalars_per_token(tree: Module) -> int:
    """What full checkpointing keeps: the input of every layer, one residual width each (same source)."""
    kept = 0
    for _, child in _stacks(tree):
        kept += sum(
            run.times * sum(_residual_width(module) * module.passes for module in run.modules) for run in child.runs
        )
    return kept


def score_bytes_per_pair(tree: Module) -> int:
    """Bytes a (query, key) pair costs without a fused kernel: 5 a head of every layer that attends."""
    total = 0
    for module, times in _modules(tree, 1):
        if module.attention is not None and module.attention.kind != "linear" and module.part not in OUTSIDE:
            total += 5 * module.attention.heads * times
    return total


def _of(module: Module) -> int:
    return 0 if module.part in OUTSIDE else _of_one_pass(module) * module.passes


def _of_one_pass(module: Module) -> int:
    if module.type == "Experts" and module.routing is not None:
        return _experts(module)
    kept = module.width_in or 0 if module.part == "norm" else 0
    shape = module.attention
    if shape is not None:
        kept += shape.heads * shape.qk_dim + shape.kv_heads * (shape.qk_dim + shape.v_dim)
    kept += _inputs(module)
    for _, child in module.children:
        if isinstance(child, Module):
            kept += _of(child)
        else:
            kept += sum(run.times * sum(map(_of, run.modules)) for run in child.runs)
    return kept


def _inputs(module: Module) -> int:
    """Inputs of the matrices directly below a module, of which the last reads what the others computed.

    In a feed-forward block also what its activation reads.
    """
    matrices = [child for _, child in module.children if isinstance(child, Module) and child.multiply_accumulates]
    matrices = [matrix for matrix in matrices if matrix.width_in and not matrix.children and matrix.type != "Experts"]
    if not matrices:
        return 0
    *first, last = matrices
    kept = sum({matrix.width_in or 0 for matrix in first}) + (last.width_in or 0)
    if module.attention is None and len(matrices) > 1 and module.width_in == module.width_out and module.width_in:
        kept += sum(matrix.width_out or 0 for matrix in first)
    return kept


def _experts(module: Module) -> int:
    """The routed input once, then for each active expert what the activation reads and what the last matrix reads."""
    assert module.routing is not None
    shapes = [tensor.shape for tensor in module.tensors if len(tensor.shape) == 3]
    if len(shapes) < 2:
        return module.width_in or 0
    hidden = module.width_in or 0
    first = next((size for size in shapes[0][1:] if size != hidden), hidden)
    last = next((size for size in shapes[1][1:] if size != hidden), hidden)
    return hidden + module.routing.active * (first + last)


def _residual_width(module: Module) -> int:
    """The width of the stream that enters a layer: that of its first norm or attention."""
    for inner, _ in _modules(module, 1):
        if inner.width_in:
            return inner.width_in
    return 0


def _stacks(module: Module) -> list[tuple[str, Stack]]:
    """The outermost stacks of layers of the network proper."""
    if module.part in OUTSIDE:
        return []
    found: list[tuple[str, Stack]] = []
    for name, child in module.children:
        if isinstance(child, Stack):
            found.append((name, child))
        else:
            found += _stacks(child)
    return found


def _modules(module: Module, times: int) -> list[tuple[Module, int]]:
    times *= module.passes
    found = [(module, times)]
    for _, child in module.children:
        if isinstance(child, Module):
            found += _modules(child, times)
        else:
            for run in child.runs:
                for item in run.modules:
                    found += _modules(item, times * run.times)
    return found
