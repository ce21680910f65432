"""LXMERT (arXiv:1908.07490): a language and an object encoder, joined by cross-modality layers."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.encoder import bert_attention, bert_embeddings, bert_layer, encoder_attention
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, named

MODEL_TYPES = ("lxmert",)


def cross_layer(config: ModelConfig) -> Module:
    """One cross attention, shared by both directions, then self-attention and feed-forward of each modality."""
    hidden, heads, inner = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
    )
    names = ("att.query", "att.key", "att.value", "output.dense")
    norm: dict[str, Module | Stack | None] = {"output.LayerNorm": layer_norm(hidden)}
    both = encoder_attention(hidden, heads, names=names, role="cross", cached=False, out_inputs=hidden, extra=norm)
    parts: dict[str, Module | Stack | None] = {"visual_attention": both}
    for modality in ("lang", "visn"):
        parts[f"{modality}_self_att"] = bert_attention(hidden, heads)
        parts[f"{modality}_inter.dense"] = linear(hidden, inner, part="feed-forward")
        parts[f"{modality}_output.dense"] = linear(inner, hidden, part="feed-forward")
        parts[f"{modality}_output.LayerNorm"] = layer_norm(hidden)
    return Module("CrossModalityLayer", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    hidden = config.integer("hidden_size")
    layer = bert_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    objects = {
        "visn_fc": linear(config.integer("visual_feat_dim"), hidden),
        "visn_layer_norm": layer_norm(hidden),
        "box_fc": linear(config.integer("visual_pos_dim"), hidden),
        "box_layer_norm": layer_norm(hidden),
    }
    embeddings = bert_embeddings(
        config.integer("vocab_size"),
        hidden,
        positions=config.integer("max_position_embeddings"),
        types=config.integer("type_vocab_size"),
    )
    parts: dict[str, Module | Stack | None] = {
        "embeddings": embeddings,
        "encoder.visn_fc": Module("ObjectFeatures", children=named(objects), part="projector"),
        "encoder.layer": uniform(layer, config.integer("l_layers")),
        "encoder.x_layers": uniform(cross_layer(config), config.integer("x_layers")),
        "encoder.r_layers": uniform(layer, config.integer("r_layers")),
        "pooler.dense": linear(hidden, hidden, part="head"),
    }
    return Module("Model", children=named(parts))
