"""gpt-oss: alternating windows, attention sinks, biased experts stored as (experts, in, out).

OpenAI's privacy filter is the same network as an encoder: every layer looks ``sliding_window`` tokens to both sides.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.tree import Module, Tensor

MODEL_TYPES = ("gpt_oss", "openai_privacy_filter")


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden = config.integer("hidden_size")
    experts = config.integer("num_local_experts")
    encoder = config.model_type == "openai_privacy_filter"
    mixer = self_attention(
        config,
        window,
        bias=config.flag("attention_bias"),
        kind="encoder" if encoder else "full",
        cached=not encoder,
    )
    mixer = mixer.with_(tensors=(Tensor("sinks", (config.integer("num_attention_heads"),)),))
    moe = mixture_of_experts(
        hidden,
        router(hidden, experts, bias=True),
        fused_experts(
            hidden,
            config.integer("intermediate_size"),
            experts,
            config.integer("num_experts_per_tok"),
            bias=True,
            transposed=True,
        ),
        names=("router", "experts"),
    )
    return decoder_layer(hidden, mixer, moe)


def build(config: ModelConfig) -> Module:
    return language_model(config, layers(config.windows(), lambda window: layer(config, window)))
