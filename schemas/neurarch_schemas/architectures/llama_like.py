"""Models that bring their own code and keep Llama's layout: pre-norm, rotary grouped-query attention, gated MLP.

Totals equal the published ones of InternLM-7B and 20B, XVERSE-7B and 13B, MiniCPM4-8B, MiMo-7B and Orion-14B.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model, self_attention
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, children

MODEL_TYPES = ("internlm", "mimo", "minicpm", "nanbeige", "orion", "telechat3", "xverse")

_CONFIRMED = ("ForCausalLM", "Model")

_TIED_BY_DEFAULT = ("minicpm",)
"""Config classes whose ``tie_word_embeddings`` is true where a file does not say."""

_BIASED_MLP = ("nanbeige", "telechat3")

_LOOPS = ("num_loops", "loop_loss_weights", "enable_double_loop_split", "loop_share_kv", "enable_depth_attention")
"""Nanbeige may run its layers several times, each with a cache of its own."""


def norm(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return layer_norm(hidden) if config.model_type == "orion" else rms_norm(hidden)


def layer(config: ModelConfig, *, cached: bool = True) -> Module:
    kind, hidden = config.model_type, config.integer("hidden_size")
    if kind == "internlm":
        # Keys and values for every head, whatever num_key_value_heads says; ``bias`` is that of all four projections.
        mixer = attention(hidden, config.integer("num_attention_heads"), bias=config.flag("bias", True))
    elif kind == "mimo":
        mixer = self_attention(config, bias=True, out_bias=False, cached=cached)
    elif kind in _BIASED_MLP:
        mixer = self_attention(config, bias=config.flag("attention_bias", False))
        return decoder_layer(hidden, mixer, feed_forward(config, bias=config.flag("mlp_bias", False)))
    else:
        mixer = self_attention(config, bias=config.flag("attention_bias"), divided=True)
    return decoder_layer(hidden, mixer, feed_forward(config), norm=norm(config))


def prediction_layers(config: ModelConfig) -> Stack:
    """Multi-token prediction of MiMo: its class builds these layers and runs them only to speculate."""
    hidden, block = config.integer("hidden_size"), layer(config, cached=False)
    further = children(
        token_layernorm=rms_norm(hidden),
        hidden_layernorm=rms_norm(hidden),
        input_proj=linear(2 * hidden, hidden, bias=False),
        final_layernorm=rms_norm(hidden),
    )
    built = block.with_(type="PredictionLayer", children=(*block.children, *further), passes=0)
    return uniform(built, config.integer("num_nextn_predict_layers", 0))


def build(config: ModelConfig) -> Module:
    if config.model_type == "minicpm" and config.integer("num_experts", 0):
        raise CannotBuild("no published total confirms a reading of the experts of MiniCPM", ("num_experts",))
    looped = [key for key in _LOOPS if config.get(key) not in (None, False, 1)]
    if looped:
        raise CannotBuild("layers that run several times are not known in this class", tuple(looped))
    stack = uniform(layer(config), config.integer("num_hidden_layers"))
    if head_name(config.architecture) not in _CONFIRMED:
        reason = f"no published total confirms a reading of the class {config.architecture}"
        raise CannotBuild(reason, ("architectures",), Module("Layers", children=(("layers", stack),)))
    return language_model(
        config,
        stack,
        norm=norm(config),
        after={"mtp_layers": prediction_layers(config)} if config.model_type == "mimo" else None,
        tied=config.flag("tie_word_embeddings", config.model_type in _TIED_BY_DEFAULT),
    )
