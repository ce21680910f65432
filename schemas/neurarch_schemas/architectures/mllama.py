"""Llama 3.2 with images: cross-attention layers between the layers of Llama, a tower over tiles of an image.

The embedding has eight more rows than the head, and the head is never tied: the classes declare no tied weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import tower, with_output_head
from neurarch_schemas.architectures.language_heads import head_name, unknown_head, with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import at
from neurarch_schemas.modules.assembly import layers, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Cache, Module, Tensor, children
from neurarch_schemas.modules.vision import height_and_width, patch_count

MODEL_TYPES = ("mllama", "mllama_text_model", "mllama_vision_model")

_DEFAULT_CROSS_LAYERS = (3, 8, 13, 18, 23, 28, 33, 38)
_DEFAULT_ASPECT_RATIOS = 8


def decoder_layer(config: ModelConfig, crosses: bool, source_length: int | None) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim = config.integer("num_key_value_heads"), hidden // heads
    transform = gated_mlp(hidden, config.integer("intermediate_size"))
    if not crosses:
        return Module(
            "DecoderLayer",
            children=children(
                self_attn=attention(hidden, heads, kv_heads, dim),
                mlp=transform,
                input_layernorm=rms_norm(hidden),
                post_attention_layernorm=rms_norm(hidden),
            ),
        )
    cross = attention(
        hidden,
        heads,
        kv_heads,
        dim,
        kind="cross",
        position="none",
        qk_norm=True,
        cached=False,
        extra={"q_norm": rms_norm(dim), "k_norm": rms_norm(dim)},
    )
    cache = Cache("cross", per_token=2 * kv_heads * dim, source_length=source_length)
    return Module(
        "CrossAttentionLayer",
        (Tensor("cross_attn_attn_gate", (1,)), Tensor("cross_attn_mlp_gate", (1,))),
        children(
            cross_attn=cross.with_(caches=(cache,)),
            input_layernorm=rms_norm(hidden),
            mlp=transform,
            post_attention_layernorm=rms_norm(hidden),
        ),
    )


def language_backbone(config: ModelConfig, source_length: int | None = None) -> Module:
    hidden = config.integer("hidden_size")
    chosen = (
        config.integers("cross_attention_layers") if config.is_set("cross_attention_layers") else _DEFAULT_CROSS_LAYERS
    )
    pattern = at(chosen, config.integer("num_hidden_layers"), True, False)
    return Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size") + 8, hidden),
            layers=layers(pattern, lambda crosses: decoder_layer(config, crosses, source_length)),
            norm=rms_norm(hidden),
        ),
    )


def vision_layer(config: ModelConfig, gated: bool) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "EncoderLayer",
        (Tensor("gate_attn", (1,)), Tensor("gate_ffn", (1,))) if gated else (),
        children(
            self_attn=encoder_attention(
                hidden,
                config.integer("attention_heads"),
                names=("q_proj", "k_proj", "v_proj", "o_proj"),
                bias=False,
            ),
            mlp=mlp(hidden, config.integer("intermediate_size")),
            input_layernorm=layer_norm(hidden),
            post_attention_layernorm=layer_norm(hidden),
        ),
    )


def vision_model(config: ModelConfig) -> Module:
    hidden, tiles = config.integer("hidden_size"), config.integer("max_num_tiles")
    ratios = (
        len(config.items("supported_aspect_ratios"))
        if config.is_set("supported_aspect_ratios")
        else _DEFAULT_ASPECT_RATIOS
    )
    patches = patch_count(config) + 1
    tile_position = Module(
        "TilePosition",
        (Tensor("gate", (1,)),),
        children(embedding=embedding(ratios + 1, tiles * hidden, part="position")),
    )
    patch_position = Module(
        "PatchPosition",
        (Tensor("gate", (1,)), Tensor("embedding", (patches, hidden))),
        children(tile_embedding=embedding(ratios + 1, tiles * patches * hidden, part="position")),
    )
    encoders = {
        gated: Module("Encoder", children=children(layers=uniform(vision_layer(config, gated), config.integer(key))))
        for gated, key in ((False, "num_hidden_layers"), (True, "num_global_layers"))
    }
    return Module(
        "VisionModel",
        (Tensor("class_embedding", (hidden,)),),
        children(
            patch_embedding=convolution(
                config.integer("num_channels"), hidden, height_and_width(config, "patch_size"), bias=False
            ),
            gated_positional_embedding=patch_position,
            pre_tile_positional_embedding=tile_position,
            post_tile_positional_embedding=tile_position,
            layernorm_pre=layer_norm(hidden),
            layernorm_post=layer_norm(hidden),
            transformer=encoders[False],
            global_transformer=encoders[True],
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "mllama_vision_model":
        return vision_model(config)
    if config.model_type == "mllama_text_model" or head_name(config.architecture) == "ForCausalLM":
        text = config.nested.get("text_config", config)
        hidden, words = text.integer("hidden_size"), text.integer("vocab_size")
        return with_language_head(config, language_backbone(text), hidden=hidden, vocabulary=words, tied=False)
    if config.architecture.endswith(("VisionModel", "TextModel")):
        raise unknown_head(config.architecture)
    vision, text = config.nested_config("vision_config"), config.nested_config("text_config")
    length = vision.integer("max_num_tiles") * (patch_count(vision) + 1)
    mapping = linear(vision.integer("vision_output_dim"), text.integer("hidden_size"), part="projector")
    parts = {
        "vision_model": tower(config),
        "language_model": language_backbone(text, length),
        "multi_modal_projector": mapping,
    }
    return with_output_head(config, {**parts}, tied=False, heads=("ForConditionalGeneration",))
