"""A hover on a key that changes a number says that number of this very model; the keys are found by trying."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neurarch_lsp.render.hover import of_pointer
from neurarch_lsp.render.markup import to_plain
from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Options
from neurarch_schemas.analysis import Analysis

MODELS: dict[str, dict[str, Any]] = {
    "llama": {
        "model_type": "llama", "vocab_size": 1000, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 32, "max_position_embeddings": 2048,
        "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False, "rms_norm_eps": 1e-5,
    },
    "gpt2": {
        "model_type": "gpt2", "vocab_size": 500, "n_embd": 64, "n_layer": 3, "n_head": 4, "n_positions": 128,
        "n_inner": 256,
    },
    "qwen3_moe": {
        "model_type": "qwen3_moe", "vocab_size": 500, "hidden_size": 64, "intermediate_size": 128,
        "num_hidden_layers": 4, "moe_intermediate_size": 32, "num_experts": 8, "num_experts_per_tok": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "decoder_sparse_step": 2,
    },
    "deepseek_v3": {
        "model_type": "deepseek_v3", "vocab_size": 500, "hidden_size": 64, "intermediate_size": 128,
        "moe_intermediate_size": 32,
        "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 4, "n_shared_experts": 1,
        "n_routed_experts": 8, "num_experts_per_tok": 2, "kv_lora_rank": 32, "q_lora_rank": 24, "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 16, "v_head_dim": 16, "first_k_dense_replace": 1, "n_group": 2, "topk_group": 1,
    },
    "gemma2": {
        "model_type": "gemma2", "vocab_size": 500, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "sliding_window": 64,
        "max_position_embeddings": 512,
    },
}  # fmt: skip


def numbers(analysis: Analysis) -> tuple[Any, ...] | None:
    counted, cache = analysis.parameters, analysis.kv_cache
    if counted is None:
        return None
    return counted.total, counted.active, cache.per_token if cache else 0, cache.at(512) if cache else 0


def built(config: dict[str, Any]) -> Analysis:
    analysis = analyse_text("/nowhere/config.json", json.dumps(config, indent=2))
    assert analysis is not None
    return analysis


@pytest.mark.parametrize("name", MODELS)
def test_every_key_that_changes_a_number_says_so(name: str) -> None:
    config = MODELS[name]
    analysis = built(config)
    present = numbers(analysis)
    assert present is not None
    checked = 0
    for key, value in config.items():
        if not isinstance(value, int):
            continue
        nearby = [not value] if isinstance(value, bool) else [value * 2, value // 2, value + 1, max(value - 1, 1)]
        others = {numbers(built({**config, key: other})) for other in nearby}
        if not others - {present, None}:
            continue
        checked += 1
        text = to_plain(of_pointer(analysis, f"/{key}", Options()))
        changed = [at for at in range(4) if {other[at] for other in others if other is not None} - {present[at]}]
        if 0 in changed:
            assert f"{present[0]:,}" in text, f"{key}: {text}"
        assert any(mark in text for mark in ("> ", "KV cache")), f"{key}: {text}"
    assert checked >= 6


@pytest.mark.parametrize("name", MODELS)
def test_keys_that_change_nothing_claim_nothing(name: str) -> None:
    analysis = built({**MODELS[name], "initializer_range": 0.02, "use_cache": True, "pad_token_id": 3})
    for key in ("initializer_range", "use_cache", "pad_token_id"):
        assert "> " not in to_plain(of_pointer(analysis, f"/{key}", Options()))


def test_neighbours_that_cannot_be_built_are_not_shown() -> None:
    analysis = built({**MODELS["llama"], "head_dim": None, "num_attention_heads": 8, "hidden_size": 256})
    text = to_plain(of_pointer(analysis, "/num_attention_heads", Options()))
    assert "> 8" in text


def test_an_entry_of_a_layer_list_says_what_another_would_cost() -> None:
    kinds = ["sliding_attention", "full_attention"] * 2
    config = {**MODELS["gemma2"], "layer_types": kinds}
    text = to_plain(of_pointer(built(config), "/layer_types/0", Options()))
    assert "2 of 4 entries" in text
    assert "full_attention" in text


@pytest.mark.parametrize(
    ("heads", "kv_heads", "offered"), [(12, 4, {3, 6}), (7, 7, {1}), (32, 8, {4, 16}), (30, 6, {5, 10})]
)
def test_neighbours_of_kv_heads_divide_the_heads(heads: int, kv_heads: int, offered: set[int]) -> None:
    model = {
        **MODELS["llama"],
        "hidden_size": 32 * heads,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
    }
    analysis = analyse_text("/nowhere/config.json", json.dumps(model))
    assert analysis is not None
    shown = to_plain(of_pointer(analysis, "/num_key_value_heads", Options()))
    rows = [line.removeprefix(">").split() for line in shown.splitlines()]
    assert {int(row[0]) for row in rows if len(row) > 3 and row[0].isdecimal()} - {kv_heads} == offered, shown
