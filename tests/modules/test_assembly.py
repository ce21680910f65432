"""Towers, tied copies and lists of lists."""

from __future__ import annotations

from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.modules.assembly import in_part, list_of_lists, tied_copy, tied_stack
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import batch_norm, linear
from neurarch_schemas.modules.tree import Module, children, rows, stack, walk


def test_a_tower_counts_under_one_part_and_caches_nothing() -> None:
    tower = Module("Encoder", children=children(layers=stack(attention(8, 2), times=3)))
    assert kv_cache(tower) is not None
    moved = in_part(tower, "audio")
    assert kv_cache(moved) is None
    assert {visit.part for visit in walk(moved)} == {"audio"}
    assert rows(moved) == rows(tower)


def test_a_tied_copy_adds_no_parameters() -> None:
    block = Module("Block", children=children(first=linear(4, 6), inner=stack(linear(6, 6), times=3)))
    alone = Module("Model", children=children(original=block))
    twice = Module("Model", children=children(original=block, copy=tied_copy(block, "original")))
    assert count_parameters(twice).total == count_parameters(alone).total
    assert {row.name for row in rows(twice)} == {row.name for row in rows(alone)}


def test_a_tied_stack_may_keep_some_tensors() -> None:
    norms = stack(batch_norm(5), times=4)
    copy = tied_stack(norms, "norms", shares=lambda tensor: tensor.kind == "parameter")
    tree = Module("Model", children=children(norms=norms, copy=copy))
    own = {row.name for row in rows(tree) if row.name.startswith("copy")}
    assert own == {f"copy.{{}}.{name}" for name in ("running_mean", "running_var", "num_batches_tracked")}


def test_lists_of_lists_have_two_indices() -> None:
    tree = Module("Model", children=children(items=list_of_lists((linear(4, 6, bias=False), 3), (linear(4, 6), 0))))
    assert [(row.name, row.count) for row in rows(tree)] == [("items.{}.{}.weight", 3)]
