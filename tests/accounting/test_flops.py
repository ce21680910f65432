"""Closed forms against sums, and a hand-computed model."""

from __future__ import annotations

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.flops import attended, attended_by_all, forward_cost, tower_costs
from neurarch_schemas.accounting.generation import generation
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Selection, children, stack

SHAPES = [
    AttentionShape(8, 2, 16, 16),
    AttentionShape(8, 2, 16, 16, "sliding", window=5),
    AttentionShape(8, 2, 16, 16, "chunked", window=4),
    AttentionShape(8, 8, 16, 16, "linear"),
    AttentionShape(8, 1, 16, 16, "sparse", selection=Selection(6)),
    AttentionShape(8, 1, 16, 16, "sparse", selection=Selection(2, tokens_per_key=4, local=3)),
    AttentionShape(8, 1, 16, 16, "sparse", selection=Selection(tokens_per_key=3, local=5)),
    AttentionShape(8, 1, 16, 16, "sparse", selection=Selection()),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tokens", [1, 3, 4, 5, 6, 17])
def test_sum_over_a_sequence_is_the_closed_form(shape: AttentionShape, tokens: int) -> None:
    assert attended_by_all(shape, tokens) == sum(attended(shape, position) for position in range(1, tokens + 1))


def test_an_encoder_attends_to_everything() -> None:
    assert attended_by_all(AttentionShape(4, 4, 8, 8, "encoder", causal=False), 7) == 49


def test_cost_of_a_small_model_by_hand() -> None:
    layer = Module("Layer", children=children(self_attn=attention(32, 4, 2, 8), mlp=linear(32, 32, bias=False)))
    tree = Module(
        "Model",
        children=children(layers=stack(layer, times=3), head=linear(32, 100, bias=False, part="head")),
    )
    cost = forward_cost(tree)
    projections = 32 * 32 + 2 * 32 * 16 + 32 * 32
    assert cost.per_token == 2 * (3 * (projections + 32 * 32) + 3200)
    assert cost.decode(9) == cost.per_token + 3 * 2 * 4 * 16 * 10
    assert cost.prefill(10) == 10 * cost.per_token + 3 * 2 * 4 * 16 * 55


def test_towers_do_not_count_for_text() -> None:
    tower = Module("Tower", children=children(fc=linear(8, 8)), part="vision")
    assert forward_cost(Module("Model", children=children(vision=tower))).per_token == 0


def test_towers_count_by_themselves() -> None:
    tower = Module("Tower", children=children(fc=linear(8, 8, bias=False)), part="vision")
    assert tower_costs(Module("Model", children=children(vision=tower)))["vision"].per_token == 2 * 64


def test_generating_reads_neither_encoder_nor_the_makers_of_its_keys_and_values() -> None:
    """BART large: 12 encoder layers, and of each decoder layer two of the four matrices of cross attention."""
    settings = {"model_type": "bart", "architectures": ["BartForConditionalGeneration"]}
    tree = architectures.build(read_config(settings))
    encoder = 12 * (4 * 1024**2 + 2 * 1024 * 4096)
    assert forward_cost(tree).per_token - generation(tree).cost.per_token == 2 * (encoder + 12 * 2 * 1024**2)
    biases_and_norms = 12 * (4 * 1024 + 4096 + 1024 + 4 * 1024) + 2 * 1024 + 12 * 2 * 1024
    positions = 1026 * 1024
    assert generation(tree).waiting == encoder + 12 * 2 * 1024**2 + biases_and_norms + positions


def test_looped_layers_cost_every_pass_and_count_once() -> None:
    once = Module("Layer", children=children(self_attn=attention(32, 4, 2, 8), mlp=linear(32, 32, bias=False)))
    trees = [Module("Model", children=children(layers=stack(once.with_(passes=passes), times=2))) for passes in (1, 3)]
    plain, looped = (forward_cost(tree) for tree in trees)
    assert looped.per_token == 3 * plain.per_token
    assert looped.prefill(7) == 3 * plain.prefill(7)
    assert count_parameters(trees[0]) == count_parameters(trees[1])


def test_albert_runs_its_one_group_as_often_as_it_says() -> None:
    settings = {
        "model_type": "albert",
        "architectures": ["AlbertModel"],
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_attention_heads": 4,
        "num_hidden_groups": 2,
    }
    costs = [
        forward_cost(architectures.build(read_config(settings | {"num_hidden_layers": layers}))) for layers in (2, 4, 7)
    ]
    assert costs[1].decode(0) - costs[0].decode(0) == 2 * (costs[2].decode(0) - costs[1].decode(0)) // 3


def test_sparse_attention_costs_the_chosen_keys_and_the_indexer_all() -> None:
    """DeepSeek-V3.2: 2,048 keys of 128 heads of 192 and 128, chosen by 64 heads of 128 over all before."""
    settings = {"model_type": "deepseek_v32", "architectures": ["DeepseekV32ForCausalLM"]}
    cost = forward_cost(architectures.build(read_config(settings)))
    layers = 61
    main, index = 2 * 128 * (192 + 128) * 2048, 2 * 64 * 128 * 100_000
    assert cost.decode(99_999) - cost.per_token == layers * (main + index)
    dense = layers * 2 * 128 * (192 + 128) * 100_000
    assert (cost.decode(99_999) - cost.per_token) / dense < 0.25


def test_compressed_attention_costs_its_entries_and_the_last_tokens() -> None:
    """DeepSeek-V4: heavily compressed layers see every 128th, others the best 512 of every 4th; and 128 tokens."""
    settings = {"model_type": "deepseek_v4", "architectures": ["DeepseekV4ForCausalLM"]}
    config = read_config(settings)
    cost = forward_cost(architectures.build(config))
    kinds = {(shape.selection.most, shape.selection.tokens_per_key) for shape, _ in cost.attention if shape.selection}
    assert kinds == {(None, 128), (config.integer("index_topk"), 4)}
    for shape, _ in cost.attention:
        if shape.selection is not None and shape.selection.most is None:
            assert attended(shape, 128_000) == 1000 + 128
        elif shape.selection is not None:
            assert attended(shape, 128_000) == 512 + 128
