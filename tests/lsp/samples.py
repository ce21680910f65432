"""Small configs of our own making."""

from __future__ import annotations

import json
from typing import Any

MOE: dict[str, Any] = {
    "architectures": ["MixtralForCausalLM"],
    "model_type": "mixtral",
    "vocab_size": 1024,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-05,
    "dtype": "bfloat16",
    "output_router_logits": False,
    "router_aux_loss_coef": 0.02,
}

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 1000,
    "hidden_size": 256,
    "intermediate_size": 688,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "hidden_act": "silu",
    "dtype": "bfloat16",
}


def text(config: dict[str, Any], **changes: Any) -> str:
    """The config as JSON with two spaces; a change to None leaves the key out."""
    merged = {key: value for key, value in {**config, **changes}.items() if value is not None}
    return json.dumps(merged, indent=2, ensure_ascii=False) + "\n"
