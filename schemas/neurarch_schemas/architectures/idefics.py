"""Idefics 2 and 3, SmolVLM: a SigLIP tower, a connector that reduces patches, a language model."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("idefics2", "idefics3", "smolvlm")


def perceiver(config: ModelConfig) -> Module:
    """Learned latents attend to the patches (and to themselves) in a few layers."""
    hidden = config.integer("hidden_size")
    block = attention(
        hidden,
        config.integer("resampler_n_heads"),
        config.integer("num_key_value_heads"),
        config.integer("resampler_head_dim"),
        kind="cross",
        cached=False,
        position="none",
    )
    layer = Module(
        "PerceiverLayer",
        children=children(
            input_latents_norm=rms_norm(hidden),
            input_context_norm=rms_norm(hidden),
            self_attn=block,
            post_attention_layernorm=rms_norm(hidden),
            mlp=gated_mlp(hidden, 4 * hidden),
        ),
    )
    return Module(
        "PerceiverResampler",
        (Tensor("latents", (config.integer("resampler_n_latents"), hidden)),),
        children(layers=uniform(layer, config.integer("resampler_depth")), norm=rms_norm(hidden)),
    )


def connector(config: ModelConfig) -> Module:
    text, features = config.nested_config("text_config"), config.nested_config("vision_config").integer("hidden_size")
    hidden = text.integer("hidden_size")
    if config.model_type != "idefics2":
        joined = features * config.integer("scale_factor") ** 2
        simple = Module("Projection", children=children(proj=linear(joined, hidden, bias=False)))
        return projector({"modality_projection": simple})
    inner = text.integer("intermediate_size")
    mapping = Module(
        "GatedMLP",
        children=children(
            gate_proj=linear(features, inner, bias=False),
            up_proj=linear(features, inner, bias=False),
            down_proj=linear(inner, hidden, bias=False),
        ),
    )
    resampler = perceiver(config.nested_config("perceiver_config"))
    return projector({"modality_projection": mapping, "perceiver_resampler": resampler})


def build(config: ModelConfig) -> Module:
    parts = {"vision_model": tower(config), "connector": connector(config), "text_model": text_model(config)}
    return with_output_head(config, {**parts}, embedding="text_model.embed_tokens.weight")
