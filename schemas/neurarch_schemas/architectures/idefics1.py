"""Idefics (the first): Llama with gated cross-attention layers between its own, a CLIP tower, optional resampler.

The head and the embedding may have rows of their own for added tokens.
"""

from __future__ import annotations

from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, list_of_lists, lm_head, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Cache, Module, Stack, Tensor, children, concatenate

MODEL_TYPES = ("idefics", "idefics_vision")

_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")


def decoder_layer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=attention(hidden, config.integer("num_attention_heads")),
            mlp=gated_mlp(hidden, config.integer("intermediate_size")),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
        ),
    )


def cross_attention_layer(config: ModelConfig, features: int) -> Module:
    """Reads the patches through a gate that starts closed."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    dim = hidden // heads
    gate = (1, 1, hidden) if config.text("alpha_type") == "vector" else (1,)
    norms: dict[str, Module | Stack | None] = {}
    if config.flag("qk_layer_norms"):
        norms = {"q_layer_norm": rms_norm(dim), "k_layer_norm": rms_norm(dim)}
    cross = encoder_attention(
        hidden, heads, names=_PROJECTIONS, bias=False, role="cross", source_hidden=features, cached=False, extra=norms
    )
    return Module(
        "CrossAttentionLayer",
        (Tensor("alpha_cross_attn", gate), Tensor("alpha_dense", gate)),
        children(
            cross_attn=cross.with_(caches=(Cache("cross", per_token=2 * heads * dim),)),
            mlp=gated_mlp(hidden, config.integer("intermediate_size")),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
        ),
    )


def resampler(config: ModelConfig, features: int) -> Module:
    """Learned latents attend to the patches; attention and MLP of each block form a list of two."""
    heads, dim = config.integer("resampler_n_heads"), config.integer("resampler_head_dim")
    extra: dict[str, Module | Stack | None] = {
        "context_layer_norm": layer_norm(features),
        "latents_layer_norm": layer_norm(features),
    }
    if config.flag("qk_layer_norms_perceiver"):
        extra |= {"q_layer_norm": layer_norm(dim), "k_layer_norm": layer_norm(dim)}
    block = encoder_attention(
        features,
        heads,
        head_dim=dim,
        names=("q_proj", "k_proj", "v_proj", "output_proj"),
        bias=False,
        role="cross",
        cached=False,
        extra=extra,
    )
    transform = Module(
        "MLP",
        children=children(
            ln=layer_norm(features),
            fc=linear(features, 4 * features, bias=False),
            c_proj=linear(4 * features, features, bias=False),
        ),
        part="feed-forward",
    )
    depth = config.integer("resampler_depth")
    blocks = concatenate(list_of_lists((block, depth)), list_of_lists((transform, depth)))
    return Module(
        "PerceiverResampler",
        (Tensor("latents", (config.integer("resampler_n_latents"), features)),),
        children(blocks=blocks, layer_norm=layer_norm(features)),
        part="projector",
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "idefics_vision":
        return vision_transformer(config)
    hidden, words, added = (
        config.integer("hidden_size"),
        config.integer("vocab_size"),
        config.integer("additional_vocab_size"),
    )
    vision, length = config.nested_config("vision_config"), config.integer("num_hidden_layers")
    features = vision.integer("embed_dim")
    more_rows = children(additional_embedding=token_embedding(added, hidden)) if added else ()
    sampled = config.flag("use_resampler")
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(words, hidden).with_(children=more_rows),
            vision_model=in_part(vision_transformer(vision), "vision"),
            perceiver_resampler=resampler(config.nested_config("perceiver_config"), features) if sampled else None,
            layers=uniform(decoder_layer(config), length),
            gated_cross_attn_layers=uniform(
                cross_attention_layer(config, features), length // config.integer("cross_layer_interval")
            ),
            norm=rms_norm(hidden),
        ),
    )
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head != "ForVisionText2Text":
        raise unknown_head(config.architecture)
    tied_to = "model.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
    top = lm_head(hidden, words, tied_to=tied_to)
    if added:
        top = top.with_(children=children(additional_fc=linear(hidden, added, bias=False)))
    return Module(config.architecture, children=children(model=backbone, lm_head=top))
