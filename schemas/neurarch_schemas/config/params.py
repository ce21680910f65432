"""params.json of Mistral, Meta and DeepSeek repositories, read as the transformers type of the same architecture."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.resolve import escape, foreign_type, resolve
from neurarch_schemas.config.setting import Setting
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.record import replace

# Key in params.json -> key of the transformers config.
COMMON = {
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "hidden_dim": "intermediate_size",
    "norm_eps": "rms_norm_eps",
    "vocab_size": "vocab_size",
    "rope_theta": "rope_theta",
    "sliding_window": "sliding_window",
    "max_seq_len": "max_position_embeddings",
    "max_position_embeddings": "max_position_embeddings",
    "tied_embeddings": "tie_word_embeddings",
    "dtype": "dtype",
}
DEEPSEEK = {
    **COMMON,
    "inter_dim": "intermediate_size",
    "moe_inter_dim": "moe_intermediate_size",
    "n_dense_layers": "first_k_dense_replace",
    "n_routed_experts": "n_routed_experts",
    "n_shared_experts": "n_shared_experts",
    "n_activated_experts": "num_experts_per_tok",
    "n_expert_groups": "n_group",
    "n_limited_groups": "topk_group",
    "route_scale": "routed_scaling_factor",
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_nope_head_dim": "qk_nope_head_dim",
    "qk_rope_head_dim": "qk_rope_head_dim",
    "v_head_dim": "v_head_dim",
    "index_n_heads": "index_n_heads",
    "index_head_dim": "index_head_dim",
    "index_topk": "index_topk",
}
# Sizes whose presence means an architecture this file has no transformers type for.
UNMAPPED = (
    "vision_encoder",
    "compress_ratios",
    "multimodal",
    "vision_chunk_size",
    "llama_4_scaling",
    "ssm",
    "n_groups",
)


def read_params(data: Mapping[str, JSONValue]) -> ModelConfig:
    """A native ModelConfig where the architecture is known, else the keys as written with ``is_native`` False."""
    from neurarch_schemas.config.read import finish

    model_type, names = dialect(data)
    record = config_type(model_type)
    if record is None:
        return finish(resolve(foreign_type(model_type), data, data, ""))
    given: dict[str, JSONValue] = {}
    pointers: dict[str, str] = {}
    for key, value in data.items():
        name = names.get(key, key)
        if name == "vocab_size" and value == -1:
            continue
        given[name] = value
        pointers[name] = f"/{escape(key)}"
    experts = data.get("moe")
    if model_type == "mixtral" and isinstance(experts, dict):
        for key, name in (("num_experts", "num_local_experts"), ("num_experts_per_tok", "num_experts_per_tok")):
            if key in experts:
                given[name] = experts[key]
                pointers[name] = f"/moe/{key}"
    derived: dict[str, JSONValue] = {}
    if "hidden_dim" not in data and model_type == "llama":
        width = meta_feed_forward_width(data)
        if width is not None:
            given["intermediate_size"] = derived["intermediate_size"] = width
    if data.get("use_scaled_rope") is True:
        given["rope_scaling"] = derived["rope_scaling"] = {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        }
    config = finish(resolve(record, given, given, ""))
    return replace(config, settings={name: relocate(item, pointers) for name, item in config.settings.items()})


def relocate(setting: Setting, pointers: Mapping[str, str]) -> Setting:
    """Point at the key of the params.json; what this file worked out itself is derived."""
    if setting.origin != "written" or setting.pointer is None:
        return setting
    pointer = pointers.get(setting.pointer[1:])
    if pointer is not None:
        return setting._replace(pointer=pointer)
    return setting._replace(origin="derived", pointer=None, source="dim, multiple_of and ffn_dim_multiplier")


def dialect(data: Mapping[str, JSONValue]) -> tuple[str, Mapping[str, str]]:
    """(model type, key names); the type is "" where none of ours has that architecture."""
    if any(key in data for key in UNMAPPED):
        return "", {}
    if "n_routed_experts" in data and "kv_lora_rank" in data:
        return ("deepseek_v32" if "index_topk" in data else "deepseek_v3"), DEEPSEEK
    if not all(key in data for key in ("dim", "n_layers", "n_heads")) or "kv_lora_rank" in data:
        return "", {}
    if isinstance(data.get("moe"), dict):
        return "mixtral", COMMON
    return ("llama" if "multiple_of" in data else "mistral"), COMMON


def meta_feed_forward_width(data: Mapping[str, JSONValue]) -> int | None:
    """Meta's Llama: 2/3 of 4 x dim, times ffn_dim_multiplier, rounded up to multiple_of."""
    dim, multiple, factor = data.get("dim"), data.get("multiple_of"), data.get("ffn_dim_multiplier")
    if not isinstance(dim, int) or not isinstance(multiple, int) or multiple <= 0:
        return None
    width = 8 * dim // 3
    if isinstance(factor, int | float) and not isinstance(factor, bool):
        width = int(factor * width)
    return multiple * ceil(width / multiple)
