"""Configurations of our own making, in the layouts that real files have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DECODER: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 1,
    "eos_token_id": [2, 3],
    "hidden_act": "silu",
    "hidden_size": 4096,
    "initializer_range": 0.02,
    "max_position_embeddings": 8192,
    "model_type": "llama",
    "num_attention_heads": 32,
    "rms_norm_eps": 1e-06,
    "rope_scaling": {"factor": 8.0, "rope_type": "llama3", "low_freq_factor": 1.0},
    "tie_word_embeddings": False,
    "sliding_window": None,
    "vocab_size": 32000,
}
NESTED: dict[str, Any] = {
    "architectures": ["ExampleForConditionalGeneration"],
    "auto_map": {"AutoConfig": "configuration_example.ExampleConfig"},
    "model_type": "example_vl",
    "text_config": {
        "hidden_size": 2048,
        "layer_types": ["full_attention", "sliding_attention", "full_attention"],
        "model_type": "example_text",
        "rope_parameters": {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}},
        "vocab_size": 1000,
    },
    "vision_config": {"depth": 2, "hidden_size": 768, "patches": [{"size": 14}, {"size": 28, "stride": [1, 2]}]},
    "quantization_config": {"quant_method": "fp8", "ignore": [], "weights": {}},
    "torch_dtype": "bfloat16",
    "hidden_size": 2048,
}


def layouts(value: Any) -> list[str]:
    return [
        json.dumps(value, indent=2) + "\n",
        json.dumps(value, indent=4),
        json.dumps(value, indent="\t"),
        json.dumps(value, indent=2).replace("\n", "\r\n"),
    ]


def compact(value: Any) -> list[str]:
    return [json.dumps(value), json.dumps(value, separators=(",", ":"))]


def published(below: int = 20_000) -> list[Path]:
    """Published configurations, where they are at hand."""
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "configs"
    return sorted(path for path in folder.glob("*.json") if path.stat().st_size < below)
