"""XLM (arXiv:1901.07291) and FlauBERT: post-norm encoders whose blocks stand in four lists."""

from __future__ import annotations

from neurarch_schemas.architectures.encoder_heads import vocabulary_projection
from neurarch_schemas.architectures.language_heads import head_name, label_count, sequence_summary, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, named, stack

MODEL_TYPES = ("xlm", "flaubert")


def backbone(config: ModelConfig) -> Module:
    hidden, count = config.integer("emb_dim"), config.integer("n_layers")
    languages = config.integer("n_langs")
    attention = encoder_attention(
        hidden, config.integer("n_heads"), names=("q_lin", "k_lin", "v_lin", "out_lin"), position="learned"
    )
    tongues = embedding(languages, hidden) if languages > 1 and config.flag("use_lang_emb") else None
    return Module(
        "Model",
        children=named(
            {
                "position_embeddings": position_embedding(config.integer("max_position_embeddings"), hidden),
                "lang_embeddings": tongues,
                "embeddings": embedding(config.integer("vocab_size"), hidden, lookup=True),
                "layer_norm_emb": layer_norm(hidden),
                "attentions": stack(attention, times=count),
                "layer_norm1": stack(layer_norm(hidden), times=count),
                "ffns": stack(mlp(hidden, 4 * hidden, names=("lin1", "lin2")), times=count),
                "layer_norm2": stack(layer_norm(hidden), times=count),
            }
        ),
    )


def with_classifier(config: ModelConfig, model: Module, hidden: int) -> Module:
    """The heads of XLM and XLNet on a summary of the sequence or on every token.

    XLM's summary has one output a label and is itself the classification; XLNet scores a summary as wide as the model.
    """
    labels, xlnet = label_count(config), config.model_type == "xlnet"
    parts: dict[str, Module | Stack | None] = {"transformer": model}
    match config.architecture.partition("For")[2]:
        case "SequenceClassification":
            parts["sequence_summary"] = sequence_summary(config, hidden, labels)
            parts["logits_proj"] = linear(hidden, labels, part="head") if xlnet else None
        case "MultipleChoice":
            parts["sequence_summary"] = sequence_summary(config, hidden, labels)
            parts["logits_proj"] = linear(hidden if xlnet else labels, 1, part="head")
        case "TokenClassification":
            parts["classifier"] = linear(hidden, labels, part="head")
        case "QuestionAnsweringSimple":
            parts["qa_outputs"] = linear(hidden, labels, part="head")
        case _:
            raise unknown_head(config.architecture)
    return Module(config.architecture, children=named(parts))


def build(config: ModelConfig) -> Module:
    model = backbone(config)
    if head_name(config.architecture) == "Model" and not config.architecture.endswith("WithLMHeadModel"):
        return model
    if not config.architecture.endswith("WithLMHeadModel"):
        return with_classifier(config, model, config.integer("emb_dim"))
    if config.flag("asm"):
        raise CannotBuild("an adaptive softmax is not known", ("asm",))
    table = "transformer.embeddings.weight" if config.flag("tie_word_embeddings") else None
    projection = vocabulary_projection(config.integer("emb_dim"), config.integer("vocab_size"), weight=table)
    parts: dict[str, Module | Stack | None] = {"transformer": model, "pred_layer.proj": projection}
    return Module(config.architecture, children=named(parts))
