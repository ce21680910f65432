"""Keys of sections that are no config classes of their own: RoPE and quantization.

Source: the parameter lists of transformers' RoPE utilities and quantization config classes, and of compressed-tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ROPE_SECTIONS = frozenset({"rope_parameters", "rope_scaling"})

ROPE_KEYS: Mapping[str, Mapping[str, Any]] = {
    "default": {"rope_theta": 10000.0, "partial_rotary_factor": 1.0},
    "linear": {"factor": 2.0, "rope_theta": 10000.0},
    "dynamic": {"factor": 2.0, "original_max_position_embeddings": 4096, "rope_theta": 10000.0},
    "yarn": {
        "factor": 4.0,
        "original_max_position_embeddings": 4096,
        "attention_factor": None,
        "beta_fast": 32,
        "beta_slow": 1,
        "mscale": None,
        "mscale_all_dim": None,
        "truncate": True,
        "rope_theta": 10000.0,
    },
    "longrope": {
        "short_factor": [],
        "long_factor": [],
        "factor": None,
        "original_max_position_embeddings": 4096,
        "attention_factor": None,
        "rope_theta": 10000.0,
    },
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
        "rope_theta": 500000.0,
    },
}

QUANTIZATION_KEYS: Mapping[str, Mapping[str, Any]] = {
    "gptq": {
        "bits": 4,
        "group_size": 128,
        "desc_act": False,
        "sym": True,
        "damp_percent": 0.01,
        "true_sequential": True,
    },
    "awq": {"bits": 4, "group_size": 128, "zero_point": True, "version": "gemm", "modules_to_not_convert": None},
    "bitsandbytes": {
        "load_in_4bit": True,
        "load_in_8bit": False,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_use_double_quant": True,
        "bnb_4bit_compute_dtype": "bfloat16",
        "llm_int8_threshold": 6.0,
        "llm_int8_skip_modules": None,
    },
    "fp8": {"activation_scheme": "dynamic", "weight_block_size": [128, 128], "modules_to_not_convert": None},
    "compressed-tensors": {
        "format": "float-quantized",
        "config_groups": {},
        "ignore": ["lm_head"],
        "kv_cache_scheme": None,
    },
    "mxfp4": {"modules_to_not_convert": []},
    "hqq": {"weight_quant_params": {"nbits": 4, "group_size": 64}},
    "torchao": {"quant_type": {}, "modules_to_not_convert": None},
}


GENERATION_KEYS: Mapping[str, Any] = {
    "do_sample": True,
    "temperature": 1.0,
    "top_k": 50,
    "top_p": 1.0,
    "min_p": 0.05,
    "max_new_tokens": 256,
    "max_length": 20,
    "repetition_penalty": 1.0,
    "num_beams": 1,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "use_cache": True,
    "cache_implementation": "dynamic",
    "stop_strings": [],
}
"""Examples for the keys of generation_config.json that are written most."""

ADAPTER_KEYS: Mapping[str, Any] = {
    "peft_type": "LORA",
    "base_model_name_or_path": "",
    "task_type": "CAUSAL_LM",
    "r": 16,
    "lora_alpha": 32,
    "lora_dropout": 0.0,
    "target_modules": ["q_proj", "v_proj"],
    "modules_to_save": None,
    "bias": "none",
    "use_rslora": False,
    "use_dora": False,
    "fan_in_fan_out": False,
    "init_lora_weights": True,
    "layers_to_transform": None,
    "layers_pattern": None,
    "rank_pattern": {},
    "alpha_pattern": {},
    "inference_mode": True,
    "revision": None,
}
"""Keys of a LoRA adapter_config.json. Source: PEFT's LoraConfig and PeftConfig."""


def keys_of(section: str, kind: object) -> Mapping[str, Any]:
    """Keys of a section with an example value each; of all kinds together while the kind is not chosen."""
    if section in ROPE_SECTIONS:
        kinds, selector = ROPE_KEYS, "rope_type"
    elif section == "quantization_config":
        kinds, selector = QUANTIZATION_KEYS, "quant_method"
    else:
        return {}
    if isinstance(kind, str) and kind in kinds:
        return {selector: kind, **kinds[kind]}
    merged: dict[str, Any] = {selector: next(iter(kinds))}
    for keys in kinds.values():
        for key, value in keys.items():
            merged.setdefault(key, value)
    return merged
