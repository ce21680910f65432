"""Rotary decoders without a gate in the feed-forward block: Apertus, Arcee, Cosmos 3 Edge, Jais 2, StarCoder 2 ..."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, language_model, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor

MODEL_TYPES = (
    "apertus",
    "apertus1p5_text",
    "arcee",
    "cosmos3_edge_text",
    "nemotron",
    "jais2",
    "nanochat",
    "starcoder2",
)

# (key of the attention biases, key of the feed-forward biases, names of its matrices)
_LAYOUT: dict[str, tuple[str, str | None, tuple[str, str]]] = {
    "apertus": ("attention_bias", None, ("up_proj", "down_proj")),
    "apertus1p5_text": ("attention_bias", None, ("up_proj", "down_proj")),
    "arcee": ("attention_bias", "mlp_bias", ("up_proj", "down_proj")),
    "cosmos3_edge_text": ("attention_bias", "mlp_bias", ("fc1", "fc2")),
    "jais2": ("attention_bias", "mlp_bias", ("up_proj", "down_proj")),
    "nemotron": ("attention_bias", "mlp_bias", ("up_proj", "down_proj")),
    "nanochat": ("attention_bias", None, ("fc1", "fc2")),
    "starcoder2": ("use_bias", "use_bias", ("c_fc", "c_proj")),
}


def norm(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    if config.model_type in ("jais2", "nemotron", "starcoder2"):
        return layer_norm(hidden)
    if config.model_type == "nanochat":
        # RMSNorm without a weight.
        return Module("RMSNorm", part="norm", width_in=hidden, width_out=hidden)
    return rms_norm(hidden)


def xielu() -> Module:
    """The xIELU activation (arXiv:2411.13010): two learned slopes, and two constants kept as buffers."""
    learned = (Tensor("alpha_p", (1,)), Tensor("alpha_n", (1,)))
    return Module("XIELU", (*learned, Tensor("beta", (), "buffer"), Tensor("eps", (), "buffer")))


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden = config.integer("hidden_size")
    attention_key, inner_key, names = _LAYOUT[config.model_type]
    apertus = config.model_type in ("apertus", "apertus1p5_text")
    mixer = self_attention(config, window, bias=config.flag(attention_key), qk_norm="head" if apertus else None)
    inner_bias = inner_key is not None and config.flag(inner_key)
    transform = mlp(hidden, config.integer("intermediate_size"), inner_bias, names=names)
    if apertus and config.get("hidden_act") == "xielu":
        transform = transform.with_(children=(*transform.children, ("act_fn", xielu())))
    norms = ("attention_layernorm", "feedforward_layernorm") if apertus else PRE_NORM
    return decoder_layer(hidden, mixer, transform, norms=norms, norm=norm(config))


def build(config: ModelConfig) -> Module:
    stack = layers(config.windows(), lambda window: layer(config, window))
    # Apertus 1.5 reads more tokens (images) than it may write.
    rows = (config.optional_integer("output_vocab_size") or None) if config.model_type == "apertus1p5_text" else None
    return language_model(config, stack, norm=norm(config), vocabulary=rows)
