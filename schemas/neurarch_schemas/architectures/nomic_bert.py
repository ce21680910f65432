"""Post-norm encoders with rotary positions: Nomic BERT, GTE and jina-embeddings-v3."""

from __future__ import annotations

from functools import partial

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import masked_lm_head, with_encoder_head
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import bert_embeddings, encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, named, stack

MODEL_TYPES = ("nomic_bert", "gte", "jina_embeddings_v3")


def feed_forward(config: ModelConfig) -> Module:
    hidden, intermediate = config.integer("hidden_size"), config.integer("intermediate_size")
    if config.model_type == "jina_embeddings_v3":
        return mlp(hidden, intermediate)
    children = {
        "gate_proj": linear(hidden, intermediate, bias=False),
        "up_proj": linear(hidden, intermediate, bias=False),
        "down_proj": linear(intermediate, hidden, bias=config.model_type == "gte"),
    }
    return Module("GatedMLP", children=named(children), part="feed-forward", width_in=hidden, width_out=hidden)


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    attention = encoder_attention(
        hidden,
        config.integer("num_attention_heads"),
        head_dim=config.optional_integer("head_dim"),
        names=("q_proj", "k_proj", "v_proj", "o_proj"),
        bias=kind != "nomic_bert",
        position="rope",
    )
    layer = Module(
        "EncoderLayer",
        children=named(
            {
                "self_attn": attention,
                "post_attention_layernorm": layer_norm(hidden),
                "mlp": feed_forward(config),
                "post_mlp_layernorm": layer_norm(hidden),
            }
        ),
    )
    types = config.integer("type_vocab_size")
    tied = config.flag("tie_word_embeddings", True) and head_name(config.architecture) == "ForMaskedLM"
    # jina_embeddings_v3 registers its head first, so a tied matrix goes by the head's name.
    head_first = "lm_head.decoder.weight" if kind == "jina_embeddings_v3" and tied else None
    return Module(
        "Model",
        children=named(
            {
                "embeddings": bert_embeddings(
                    config.integer("vocab_size"),
                    hidden,
                    positions=None,
                    types=None if kind == "gte" and not types else types,
                    tied_to=head_first,
                ),
                "pooler": pooler(hidden) if with_pooler else None,
                "layers": stack(layer, times=config.integer("num_hidden_layers")),
            }
        ),
    )


def language_model(config: ModelConfig) -> dict[str, Module]:
    hidden, vocabulary, kind = config.integer("hidden_size"), config.integer("vocab_size"), config.model_type
    tied = config.flag("tie_word_embeddings", True)
    if kind == "nomic_bert":
        table = "nomic_bert.embeddings.word_embeddings.weight" if tied else None
        names = ("transform.dense", "transform.layer_norm")
        head = masked_lm_head(hidden, vocabulary, tied_to=table, name="cls.predictions", transform=names)
        return {"cls.predictions": head}
    table = "gte.embeddings.word_embeddings.weight" if tied and kind == "gte" else None
    head = masked_lm_head(
        hidden,
        vocabulary,
        tied_to=table,
        name="lm_head",
        transform=("dense", "layer_norm"),
        own_bias=kind != "gte",
        tied_bias=tied,
    )
    return {"lm_head": head}


def build(config: ModelConfig) -> Module:
    kind = config.model_type
    if kind == "jina_embeddings_v3" and head_name(config.architecture) == "ForMultipleChoice":
        raise unknown_head(config.architecture)
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix="roberta" if kind == "jina_embeddings_v3" else kind,
        hidden=config.integer("hidden_size"),
        language_model=partial(language_model, config),
        classifier="dense" if kind == "jina_embeddings_v3" else "pooled",
        pooled=("Model",) if kind == "jina_embeddings_v3" else (),
    )
