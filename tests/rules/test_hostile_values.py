"""Whatever value a key has, rules neither crash nor take long."""

from __future__ import annotations

import json
import math
import time

import pytest

from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Options, options_from
from neurarch_rules.engine.run import run

NUMBERS = [-1, 0, 1.5, 10**30, 10**400, 1e300, math.inf, -math.inf, math.nan]
VALUES: list[object] = [None, True, *NUMBERS, "", "text", [], [None], [1, "a"], {}, {"a": {"b": []}}]
BASES: dict[str, dict[str, object]] = {
    "llama": {"architectures": ["LlamaForCausalLM"], "num_key_value_heads": 8},
    "qwen3_moe": {"architectures": ["Qwen3MoeForCausalLM"]},
    "deepseek_v3": {"architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": 4},
    "mamba2": {"architectures": ["Mamba2ForCausalLM"]},
    "qwen2": {  # a published geometry
        "architectures": ["Qwen2ForCausalLM"],
        "num_hidden_layers": 28,
        "hidden_size": 3584,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "intermediate_size": 18944,
        "vocab_size": 152064,
    },
    "own_type": {"auto_map": {"AutoConfig": "a.B"}},
}
KEYS = [
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size"),
    *("rope_scaling", "rope_parameters", "rope_theta", "layer_types", "quantization_config", "architectures"),
    *("eos_token_id", "id2label", "num_labels", "sliding_window", "use_sliding_window", "max_position_embeddings"),
    *("num_experts", "num_experts_per_tok", "n_group", "topk_group", "dtype", "auto_map", "tie_word_embeddings"),
    *("hidden_act", "text_config", "model_type", "expand", "kv_lora_rank", "problem_type", "initializer_range"),
]
SERVING = options_from({"serving": {"tensor-parallel": 3, "gpu-memory-gib": 24}, "transformers-version": "5.2"})


@pytest.mark.parametrize("model_type", BASES)
def test_no_value_crashes_a_rule(model_type: str) -> None:
    for key in KEYS:
        for value in VALUES:
            config = {"model_type": model_type, **BASES[model_type], key: value}
            analysis = analyse_text("config.json", json.dumps(config))
            if analysis is None:
                continue
            for options in (Options(), SERVING):
                crashes = run(analysis, options).crashes
                assert crashes == (), (key, value, [(crash.rule, repr(crash.error)) for crash in crashes])


@pytest.mark.parametrize("key", ["max_position_embeddings", "factor", "original_max_position_embeddings", "rope_theta"])
def test_no_value_of_a_stretched_window_crashes_a_rule(key: str) -> None:
    for kind in ("yarn", "linear", "dynamic", "llama3"):
        for value in VALUES:
            block = {"rope_type": kind, "factor": 4.0, "original_max_position_embeddings": 32768, "rope_theta": 1e6}
            window = {"max_position_embeddings": value} if key not in block else {"max_position_embeddings": 131072}
            for rope in ({**block, key: value} if key in block else block, {"rope_type": kind, "factor": 4.0}):
                config = {"model_type": "qwen2", **BASES["qwen2"], **window, "rope_parameters": rope}
                analysis = analyse_text("config.json", json.dumps(config))
                assert analysis is not None
                assert run(analysis, Options()).crashes == (), (key, value, rope)


@pytest.mark.parametrize("name", ["generation_config.json", "adapter_config.json"])
def test_no_value_crashes_a_rule_of_relatives(name: str) -> None:
    keys = [
        *("temperature", "top_p", "top_k", "num_beams", "num_return_sequences", "eos_token_id", "pad_token_id"),
        *("max_length", "min_length", "early_stopping", "target_modules", "r", "lora_alpha", "lora_dropout", "bias"),
        *("task_type", "modules_to_save", "layers_to_transform", "eva_config", "peft_type"),
    ]
    base = (
        {"do_sample": True} if "generation" in name else {"peft_type": "LORA", "base_model_name_or_path": "x", "r": 8}
    )
    for key in keys:
        for value in VALUES:
            analysis = analyse_text(name, json.dumps({**base, key: value}))
            if analysis is not None:
                assert run(analysis, Options()).crashes == (), (key, value)


def test_huge_numbers_cost_no_time() -> None:
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "num_hidden_layers": 10**9,
        "num_attention_heads": 10**9,
        "num_key_value_heads": 10**9 - 1,
        "hidden_size": 10**12 + 39,
        "vocab_size": 10**15,
        "max_position_embeddings": 10**18,
    }
    started = time.process_time()
    analysis = analyse_text("config.json", json.dumps(config))
    assert analysis is not None
    assert run(analysis, SERVING).crashes == ()
    assert time.process_time() - started < 1
