"""PP-FormulaNet: SAM's image encoder with a convolutional projector, and an mBART decoder that reads it."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import tower, with_output_head
from neurarch_schemas.architectures.sam_vision import vision_encoder
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.encoder import bart_decoder_layer
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, children

MODEL_TYPES = ("pp_formulanet", "pp_formulanet_vision", "pp_formulanet_text")

_POSITION_OFFSET = 2


def vision_model(config: ModelConfig) -> Module:
    first, inner, last = (config.integer(f"post_conv_{name}_channels") for name in ("in", "mid", "out"))
    outputs = config.integer("decoder_hidden_size")
    narrowing = Module(
        "Projector",
        children=children(
            conv1=convolution(first, inner, (3, 3), bias=False),
            conv2=convolution(inner, last, (3, 3), bias=False),
            linear_1=linear(last, last),
            linear_2=linear(last, outputs),
        ),
        part="projector",
    )
    encoder = vision_encoder(config)
    return encoder.with_(children=(*encoder.children, ("multi_modal_projector", narrowing)), width_out=outputs)


def text_decoder(config: ModelConfig) -> Module:
    hidden, heads, inner = (
        config.integer("d_model"),
        config.integer("decoder_attention_heads"),
        config.integer("decoder_ffn_dim"),
    )
    places = config.integer("max_position_embeddings") + _POSITION_OFFSET
    return Module(
        "Decoder",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            embed_positions=position_embedding(places, hidden),
            layers=uniform(bart_decoder_layer(hidden, heads, inner), config.integer("decoder_layers")),
            layernorm_embedding=layer_norm(hidden),
            layer_norm=layer_norm(hidden),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "pp_formulanet_vision":
        return vision_model(config)
    if config.model_type == "pp_formulanet_text":
        return text_decoder(config)
    text = config.nested_config("text_config")
    parts: dict[str, Module | Stack | None] = {"decoder": text_decoder(text), "encoder": tower(config)}
    return with_output_head(config, parts, tied=False)
