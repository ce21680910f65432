"""Parts, repeats and rows of a module tree."""

from __future__ import annotations

from neurarch_schemas.modules.attention import attention, fused_attention, latent_attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Row, children, concatenate, rows, stack, walk


def test_everything_in_a_tower_belongs_to_the_tower() -> None:
    tower = Module("Vision", children=children(layers=stack(attention(8, 2), times=3)), part="vision")
    tree = Module("Model", children=children(vision=tower, layers=stack(attention(8, 2), times=2)))
    parts = {(visit.path.split(".")[0], visit.part) for visit in walk(tree) if visit.module.tensors}
    assert parts == {("vision", "vision"), ("layers", "attention")}


def test_equal_layers_are_one_row_with_a_count() -> None:
    tree = Module("Model", children=children(layers=stack(linear(4, 6, bias=False), times=10**9)))
    assert rows(tree) == (Row("layers.{}.weight", (6, 4), "parameter", 10**9),)


def test_one_object_in_many_runs_is_visited_once() -> None:
    first, second = linear(4, 6, bias=False), linear(4, 8, bias=False)
    alternating = concatenate(stack(first), stack(second), stack(first, times=3), stack(second, first, times=2))
    tree = Module("Model", children=children(layers=alternating))
    assert [(visit.module, visit.times) for visit in walk(tree)][1:] == [(first, 6), (second, 3)]


def test_windows_make_attention_sliding() -> None:
    shape = attention(8, 2, window=16).attention
    assert shape is not None
    assert (shape.kind, shape.window) == ("sliding", 16)
    assert attention(8, 2, window=16).caches[0].window == 16
    fused = fused_attention(8, 2, window=16).attention
    assert fused is not None
    assert fused.kind == "sliding"


def test_heads_that_do_not_divide_are_told_not_raised() -> None:
    problems = attention(100, 8, 3).problems
    assert [(problem.left, problem.right) for problem in problems] == [(100, 8), (8, 3)]
    assert attention(100, 8, 2, head_dim=16).problems == ()


def test_latent_attention_caches_the_latent_and_one_rotary_key() -> None:
    block = latent_attention(64, 4, q_lora_rank=None, kv_lora_rank=16, nope_dim=8, rope_dim=4, v_dim=8)
    assert [cache.per_token for cache in block.caches] == [16 + 4]
    assert block.caches[0].expanded_per_token == 4 * (8 + 4 + 8)
    assert ("q_proj.weight", (4 * 12, 64)) in [(row.name, row.shape) for row in rows(block)]


def test_a_balancing_bias_stands_where_the_family_keeps_it() -> None:
    experts = fused_experts(8, 4, 6, 2)
    beside = mixture_of_experts(8, router(8, 6), experts, correction_bias="bias")
    within = mixture_of_experts(
        8, router(8, 6, correction_bias="bias"), experts, extra={"shared": shared_experts(8, 4)}
    )
    assert Row("bias", (6,), "buffer", 1) in rows(beside)
    assert Row("gate.bias", (6,), "buffer", 1) in rows(within)
