"""LoRA against published and hand-computed counts."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.adapter import count_adapter
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import Module

SEVEN = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def llama_2_7b() -> Module:
    return architectures.build(read_config({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}))


def count(**fields: Any) -> int | None:
    return count_adapter({"peft_type": "LORA", **fields}, llama_2_7b()).trainable


def test_published_figures() -> None:
    """PEFT prints 4,194,304 for q_proj and v_proj at rank 8 on Llama-2-7B, 39,976,960 for all seven at rank 16."""
    assert count(r=8, target_modules=["q_proj", "v_proj"]) == 4_194_304
    assert count(r=16, target_modules=SEVEN) == 39_976_960
    assert count(r=16, target_modules="all-linear") == 39_976_960
    assert count(r=8, target_modules=r".*\.(q|v)_proj") == 4_194_304


def test_dora_adds_one_magnitude_an_output() -> None:
    assert count(r=8, target_modules=["q_proj"], use_dora=True) == 32 * (8 * 8192 + 4096)


def test_modules_trained_whole() -> None:
    assert count(r=8, target_modules=["q_proj"], modules_to_save=["lm_head"]) == 32 * 8 * 8192 + 32000 * 4096


def test_embeddings_get_an_adapter_too() -> None:
    assert count(r=8, target_modules=["embed_tokens"]) == 8 * (32000 + 4096)


@pytest.mark.parametrize(
    "fields",
    [
        {"r": 0, "target_modules": ["q_proj"]},
        {"r": 8, "target_modules": None},
        {"r": 8, "target_modules": "(("},
        {"r": 8, "target_modules": ["q_proj"], "rank_pattern": {"q_proj": 4}},
        {"peft_type": "PREFIX_TUNING"},
    ],
)
def test_what_is_not_followed_is_refused_with_a_reason(fields: dict[str, Any]) -> None:
    found = count_adapter({"peft_type": "LORA", **fields}, llama_2_7b())
    assert found.trainable is None
    assert found.reason


def test_trained_biases_are_labelled() -> None:
    found = count_adapter({"peft_type": "LORA", "r": 8, "target_modules": ["q_proj"], "bias": "all"}, llama_2_7b())
    assert not found.exact
