"""Kosmos-2 and 2.5: a vision encoder, learned queries that attend to its patches, a decoder with inner norms.

The output head is tied where either the composite (Kosmos-2 only) or the text config says so.
"""

from __future__ import annotations

from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.composite import either_tied, tower
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.architectures.pix2struct import patch_encoder
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, lm_head, uniform
from neurarch_schemas.modules.encoder import Role, encoder_attention
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children
from neurarch_schemas.modules.vision import vision_attention

MODEL_TYPES = (
    "kosmos-2",
    "kosmos_2_text_model",
    "kosmos_2_vision_model",
    "kosmos-2.5",
    "kosmos_2_5_text_model",
    "kosmos_2_5_vision_model",
)

_NEWER = ("kosmos-2.5", "kosmos_2_5_text_model", "kosmos_2_5_vision_model")


def text_attention(config: ModelConfig, role: Role, *, inner_norm: bool) -> Module:
    hidden, heads = config.integer("embed_dim"), config.integer("attention_heads")
    extra: dict[str, Module | Stack | None] = {"inner_attn_ln": layer_norm(hidden) if inner_norm else None}
    if role == "decoder":
        return encoder_attention(hidden, heads, role=role, position="sinusoidal", extra=extra)
    return vision_attention(hidden, heads, extra=extra)


def text_transformer(config: ModelConfig) -> Module:
    hidden, inner = config.integer("embed_dim"), config.integer("ffn_dim")
    newer = config.model_type in _NEWER
    crosses = not newer and config.flag("add_cross_attention")
    transform = Module(
        "MLP",
        children=children(fc1=linear(hidden, inner), fc2=linear(inner, hidden), ffn_layernorm=layer_norm(inner)),
        part="feed-forward",
    )
    layer = Module(
        "DecoderLayer",
        children=children(
            self_attn=text_attention(config, "decoder", inner_norm=not newer),
            self_attn_layer_norm=layer_norm(hidden),
            encoder_attn=text_attention(config, "cross", inner_norm=False) if crosses else None,
            encoder_attn_layer_norm=layer_norm(hidden) if crosses else None,
            ffn=transform,
            final_layer_norm=layer_norm(hidden),
        ),
    )
    return Module(
        "Transformer",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            segment_emb=embedding(2, hidden) if newer else None,
            layers=uniform(layer, config.integer("layers")),
            layer_norm=layer_norm(hidden),
        ),
    )


def text_model(config: ModelConfig, *, headed: bool, tied: bool) -> Module:
    transformer = text_transformer(config)
    if not headed:
        return Module("TextModel", children=children(model=transformer))
    tied_to = "model.embed_tokens.weight" if tied else None
    top = lm_head(config.integer("embed_dim"), config.integer("vocab_size"), tied_to=tied_to)
    return Module("TextForCausalLM", children=children(model=transformer, lm_head=top))


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    if config.model_type == "kosmos_2_vision_model":
        return Module("VisionModel", children=children(model=vision_transformer(config)))
    if config.model_type == "kosmos_2_5_vision_model":
        return patch_encoder(
            config,
            config.integer("max_num_patches"),
            head_dim=config.integer("head_dim"),
            inner=config.integer("intermediate_size"),
        )
    if config.model_type.endswith("_text_model"):
        return text_model(config, headed=head == "ForCausalLM", tied=config.flag("tie_word_embeddings"))
    if head not in ("Model", "ForConditionalGeneration"):
        raise unknown_head(config.architecture)
    text, vision = config.nested_config("text_config"), config.nested_config("vision_config")
    hidden = text.integer("embed_dim")
    queries = Module(
        "Projection",
        (Tensor("latent_query", (config.integer("latent_query_num"), hidden)),),
        children(
            dense=linear(vision.integer("hidden_size"), hidden),
            x_attn=text_attention(text, "cross", inner_norm=False),
        ),
    )
    tied = text.flag("tie_word_embeddings") if config.model_type in _NEWER else either_tied(config)
    return Module(
        config.architecture,
        children=children(
            text_model=text_model(text, headed=head != "Model", tied=tied),
            vision_model=tower(config),
            image_to_text_projection=in_part(queries, "projector"),
        ),
    )
