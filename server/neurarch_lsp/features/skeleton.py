"""The beginning of a new config: the main keys of a type with its defaults."""

from __future__ import annotations

import json

from neurarch_schemas.catalogue import load as catalogue

SUGGESTED = ("llama", "qwen3", "qwen3_moe", "mixtral", "deepseek_v3", "gemma3_text", "mistral", "gpt2", "mamba2")

MAIN_KEYS = (
    "vocab_size",
    "hidden_size",
    "n_embd",
    "intermediate_size",
    "moe_intermediate_size",
    "num_hidden_layers",
    "n_layer",
    "num_attention_heads",
    "n_head",
    "num_key_value_heads",
    "head_dim",
    "num_heads",
    "state_size",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "v_head_dim",
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "num_experts_per_tok",
    "max_position_embeddings",
    "n_positions",
    "hidden_act",
    "rms_norm_eps",
    "tie_word_embeddings",
)


def snippet(model_type: str, whole: bool) -> str:
    """Pairs with placeholders, in braces when the file is empty."""
    record = catalogue.config_type(model_type)
    assert record is not None, model_type
    lines = [f'"architectures": ["{record.architecture}"]', f'"model_type": "{model_type}"']
    number = 0
    for key in MAIN_KEYS:
        default = record.resolved.get(key)
        if key not in record.properties or default is None:
            continue
        number += 1
        value = json.dumps(default)
        lines.append(
            f'"{key}": ' + (f'"${{{number}:{default}}}"' if isinstance(default, str) else f"${{{number}:{value}}}")
        )
    lines.append('"dtype": "${' + str(number + 1) + ':bfloat16}"')
    joined = ",\n".join(lines)
    return "{\n" + "\n".join(f"  {line}" for line in joined.split("\n")) + "\n}" if whole else joined
