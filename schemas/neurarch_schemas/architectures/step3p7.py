"""Step 3.7 and its text model Step 3.5: gated attention with more heads in sliding layers, experts, a vision tower.

Heads of sliding layers come from ``per_layer_config``, or, where a file does not have one, from
``num_sliding_attention_heads``. The nested configs' own model types are ignored: the class fixes both.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.overrides import Overrides, is_written, per_layer_overrides
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router, shared_experts
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import patch_count, vision_attention

MODEL_TYPES = ("step3p7", "step3p5", "step3p5_vision")
READS_PER_LAYER_CONFIG = True


def overrides(config: ModelConfig) -> LayerPattern[Overrides]:
    if is_written(config, "per_layer_config"):
        return per_layer_overrides(config, ("num_attention_heads",), config.integer("num_hidden_layers"))
    heads = config.integer("num_sliding_attention_heads", config.integer("num_attention_heads"))
    sliding: Overrides = (("num_attention_heads", heads),)
    return config.layers("layer_types").map(lambda kind: sliding if kind == "sliding_attention" else ())


def self_attention(config: ModelConfig, kind: JSONScalar, varied: Overrides) -> Module:
    hidden, dim = config.integer("hidden_size"), config.integer("head_dim")
    heads = dict(varied).get("num_attention_heads") or config.integer("num_attention_heads")
    by_head = config.get("gating", True) in (True, "per-head")
    return attention(
        hidden,
        heads,
        config.integer("num_key_value_heads"),
        dim,
        bias=config.flag("attention_bias"),
        extra={
            "q_norm": rms_norm(dim),
            "k_norm": rms_norm(dim),
            "g_proj": linear(hidden, heads if by_head else heads * dim, bias=False),
        },
        window=config.optional_integer("sliding_window") if kind == "sliding_attention" else None,
        qk_norm=True,
    )


def transform(config: ModelConfig, kind: JSONScalar) -> Module:
    hidden, bias = config.integer("hidden_size"), config.flag("mlp_bias")
    if kind != "sparse":
        return gated_mlp(hidden, config.integer("intermediate_size"), bias)
    experts = config.integer("n_routed_experts")
    return mixture_of_experts(
        hidden,
        router(hidden, experts, correction_bias="e_score_correction_bias"),
        fused_experts(hidden, config.integer("moe_intermediate_size"), experts, config.integer("num_experts_per_tok")),
        extra={"shared_experts": shared_experts(hidden, config.integer("share_expert_dim"), bias)},
    )


def text_backbone(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    pattern = config.layers("layer_types").zip(config.layers("mlp_layer_types")).zip(overrides(config))

    def layer(mixer: JSONScalar, feed_forward: JSONScalar, varied: Overrides) -> Module:
        return decoder_layer(hidden, self_attention(config, mixer, varied), transform(config, feed_forward))

    return language_model(config, layers(pattern, lambda kind: layer(*kind[0], kind[1])))


def vision_model(config: ModelConfig) -> Module:
    hidden, patch = config.integer("hidden_size"), config.integer("patch_size")
    layer = Module(
        "EncoderLayer",
        (Tensor("lambda_1", (hidden,)), Tensor("lambda_2", (hidden,))),
        children(
            self_attn=vision_attention(hidden, config.integer("num_attention_heads"), position="rope"),
            mlp=mlp(hidden, int(hidden * config.number("mlp_ratio"))),
            layernorm_before=layer_norm(hidden),
            layernorm_after=layer_norm(hidden),
        ),
    )
    embeddings = Module(
        "Embeddings",
        children=children(
            patch_embedding=convolution(config.integer("num_channels"), hidden, (patch, patch), bias=False),
            position_embedding=position_embedding(patch_count(config), hidden),
        ),
        part="embedding",
    )
    return Module(
        "VisionModel",
        children=children(
            embeddings=embeddings,
            pre_layernorm=layer_norm(hidden),
            layers=uniform(layer, config.integer("num_hidden_layers")),
            downsampler1=convolution(hidden, 2 * hidden, (3, 3)),
            downsampler2=convolution(2 * hidden, 4 * hidden, (3, 3)),
        ),
        width_out=4 * hidden,
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "step3p5":
        return text_backbone(config)
    if config.model_type == "step3p5_vision":
        return vision_model(config)
    features = 4 * config.nested_config("vision_config").integer("hidden_size")
    hidden = config.nested_config("text_config").integer("hidden_size")
    parts = {
        "vision_model": tower(config),
        "language_model": text_model(config),
        "multi_modal_projector": linear(features, hidden, config.flag("projector_bias"), part="projector"),
    }
    return with_output_head(config, {**parts})
