"""dots 3 note (text): latent attention of two sizes, a small one over a window and a large indexed one, experts.

Sliding layers take their sizes from ``per_layer_config``, or, where a file does not have one, from the keys ``swa_*``.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model
from neurarch_schemas.architectures.deepseek import chosen_keys, indexer
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.overrides import Overrides, is_written, per_layer_overrides
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import latent_attention, selecting
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import Module

MODEL_TYPES = ("dots3_note_text",)
READS_PER_LAYER_CONFIG = True

_SLIDING_DEFAULTS = {
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "q_lora_rank": 1024,
    "kv_lora_rank": 1024,
    "head_dim": 256,
    "qk_nope_head_dim": 192,
    "v_head_dim": 128,
}


def overrides(config: ModelConfig) -> LayerPattern[Overrides]:
    """The sizes of each layer's attention where they differ from the model's."""
    varied = (*_SLIDING_DEFAULTS, "qk_rope_head_dim")
    if is_written(config, "per_layer_config"):
        return per_layer_overrides(config, varied, config.integer("num_hidden_layers"))
    sliding: dict[str, int | None] = {
        key: config.integer(f"swa_{key}", value) for key, value in _SLIDING_DEFAULTS.items()
    }
    rope = (sliding["head_dim"] or 0) - (sliding["qk_nope_head_dim"] or 0)
    sliding["qk_rope_head_dim"] = config.integer("swa_qk_rope_head_dim", rope)
    pairs = tuple(sorted(sliding.items()))
    return config.layers("layer_types").map(lambda kind: pairs if kind == "sliding_attention" else ())


def self_attention(config: ModelConfig, kind: JSONScalar, varied: Overrides) -> Module:
    given = dict(varied)

    def size(name: str) -> int:
        value = given.get(name)
        return config.integer(name) if value is None else value

    hidden, heads, rope = config.integer("hidden_size"), size("num_attention_heads"), size("qk_rope_head_dim")
    block = latent_attention(
        hidden,
        heads,
        q_lora_rank=size("q_lora_rank"),
        kv_lora_rank=size("kv_lora_rank"),
        nope_dim=size("qk_nope_head_dim"),
        rope_dim=rope,
        v_dim=size("v_head_dim"),
        bias=config.flag("attention_bias"),
        extra={
            "k_rope_only_layernorm": rms_norm(rope),
            "g_proj": linear(hidden, heads, bias=False),
            "indexer": indexer(config) if kind == "indexed_attention" else None,
        },
        window=config.integer("sliding_window") if kind == "sliding_attention" else None,
    )
    if kind != "indexed_attention":
        return block
    return selecting(block, chosen_keys(config, indexed=True))


def mixture(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("moe_intermediate_size")
    experts = config.integer("n_routed_experts")
    shared = config.integer("shared_experts_intermediate_size") * config.integer("n_shared_experts")
    return mixture_of_experts(
        hidden,
        router(hidden, experts, correction_bias="e_score_correction_bias"),
        fused_experts(hidden, inner, experts, config.integer("num_experts_per_tok")),
        extra={"shared_experts": shared_experts(hidden, shared)},
    )


def layer(config: ModelConfig, kind: JSONScalar, transform: JSONScalar, varied: Overrides) -> Module:
    return decoder_layer(
        config.integer("hidden_size"),
        self_attention(config, kind, varied),
        mixture(config) if transform == "sparse" else feed_forward(config),
    )


def build(config: ModelConfig) -> Module:
    pattern = config.layers("layer_types").zip(config.layers("mlp_layer_types")).zip(overrides(config))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind[0], kind[1])))
