"""GPT-NeoX and GPT-NeoX Japanese: fused query-key-value matrix, rotary positions on part of each head."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, language_model
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor

MODEL_TYPES = ("gpt_neox", "gpt_neox_japanese")


def layer(config: ModelConfig, last: bool) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    japanese = config.model_type == "gpt_neox_japanese"
    bias = not japanese and config.flag("attention_bias", True)
    dim = hidden // heads
    mixer = attention_block(
        {"query_key_value": linear(hidden, 3 * hidden, bias), "dense": linear(hidden, hidden, bias)},
        AttentionShape(heads, heads, dim, dim, position="partial rope"),
        hidden=hidden,
    )
    if japanese and last:
        # Only the last layer of the Japanese model has an output bias, added behind dropout.
        mixer = mixer.with_(tensors=(Tensor("dense_bias", (hidden,)),))
    # The Japanese config gives the inner width as a (possibly fractional) multiple of the hidden size.
    inner = (
        int(hidden * config.number("intermediate_multiple_size")) if japanese else config.integer("intermediate_size")
    )
    transform = mlp(hidden, inner, not japanese, names=("dense_h_to_4h", "dense_4h_to_h"))
    return decoder_layer(hidden, mixer, transform, norms=PRE_NORM, norm=layer_norm(hidden), names=("attention", "mlp"))


def build(config: ModelConfig) -> Module:
    length = config.integer("num_hidden_layers")
    japanese = config.model_type == "gpt_neox_japanese"
    pattern = LayerPattern.constant(False, length)
    if japanese:
        pattern = LayerPattern.constant(False, length - 1) + LayerPattern.constant(True, min(length, 1))
    return language_model(
        config,
        layers(pattern, lambda last: layer(config, last)),
        norm=layer_norm(config.integer("hidden_size")),
        names=("embed_in", "layers", "final_layer_norm"),
        prefix="gpt_neox_japanese" if japanese else "gpt_neox",
        output="embed_out" if japanese else "lm_head",
        classifier="classifier",
        question_answering_prefix="gpt_neox",
    )
