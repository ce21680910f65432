"""BioGPT and XGLM: pre-norm decoders in the style of BART's, with learned or sinusoidal positions."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, children

MODEL_TYPES = ("biogpt", "xglm")

_NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")

# Position ids of BioGPT start at 2.
POSITION_OFFSET = 2


def layer(hidden: int, heads: int, inner: int, position: str, crossed: bool) -> Module:
    cross = attention(hidden, heads, bias=True, names=_NAMES, kind="cross", position="none", cached=False)
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=attention(hidden, heads, bias=True, names=_NAMES, position=position),
            encoder_attn=cross if crossed else None,
            encoder_attn_layer_norm=layer_norm(hidden) if crossed else None,
            self_attn_layer_norm=layer_norm(hidden),
            fc1=linear(hidden, inner, part="feed-forward"),
            fc2=linear(inner, hidden, part="feed-forward"),
            final_layer_norm=layer_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    before: dict[str, Module | Stack | None] = {}
    if config.model_type == "biogpt":
        hidden, length = config.integer("hidden_size"), config.integer("num_hidden_layers")
        heads, inner = config.integer("num_attention_heads"), config.integer("intermediate_size")
        block = layer(hidden, heads, inner, "learned", crossed=False)
        rows = config.integer("max_position_embeddings") + POSITION_OFFSET
        before["embed_positions"] = position_embedding(rows, hidden)
    else:
        hidden, length = config.integer("d_model"), config.integer("num_layers")
        heads, inner = config.integer("attention_heads"), config.integer("ffn_dim")
        # Sinusoidal positions are computed, not stored.
        block = layer(hidden, heads, inner, "sinusoidal", config.flag("add_cross_attention"))
    biogpt = config.model_type == "biogpt"
    return language_model(
        config,
        uniform(block, length),
        hidden=hidden,
        norm=layer_norm(hidden),
        names=("embed_tokens", "layers", "layer_norm"),
        before=before,
        prefix="biogpt" if biogpt else "model",
        output="output_projection" if biogpt else "lm_head",
        classifier="classifier",
    )
