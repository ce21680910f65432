"""Funnel Transformer (arXiv:2006.03236): blocks of ever shorter sequences, and a decoder back to full length."""

from __future__ import annotations

from neurarch_schemas.architectures.encoder_heads import dense_classifier, vocabulary_projection
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import list_of_lists
from neurarch_schemas.modules.layers import embedding, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack

MODEL_TYPES = ("funnel",)


def layer(config: ModelConfig) -> Module:
    hidden, heads, dim = config.integer("d_model"), config.integer("n_head"), config.integer("d_head")
    inner, width = config.integer("d_inner"), heads * dim
    biases = tuple(Tensor(name, (heads, dim)) for name in ("r_w_bias", "r_r_bias", "r_s_bias"))
    attention = Module(
        "RelativeAttention",
        (*biases, Tensor("r_kernel", (hidden, heads, dim)), Tensor("seg_embed", (2, heads, dim))),
        named(
            {
                "q_head": linear(hidden, width, bias=False),
                "k_head": linear(hidden, width),
                "v_head": linear(hidden, width),
                "post_proj": linear(width, hidden),
                "layer_norm": layer_norm(hidden),
            }
        ),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="relative"),
        width_in=hidden,
        width_out=hidden,
    )
    feed_forward = {
        "linear_1": linear(hidden, inner),
        "linear_2": linear(inner, hidden),
        "layer_norm": layer_norm(hidden),
    }
    block = Module("FeedForward", children=named(feed_forward), part="feed-forward")
    return Module("EncoderLayer", children=named({"attention": attention, "ffn": block}))


def backbone(config: ModelConfig, *, decoder: bool) -> Module:
    """``block_repeats`` runs layers again without storing them twice."""
    hidden, built = config.integer("d_model"), layer(config)
    sizes = config.integers("block_sizes")
    tables = {
        "word_embeddings": embedding(config.integer("vocab_size"), hidden, lookup=True),
        "layer_norm": layer_norm(hidden),
    }
    layers = stack(built, times=config.integer("num_decoder_layers")) if decoder else None
    return Module(
        "Model",
        children=named(
            {
                "embeddings": Module("Embeddings", children=named(tables), part="embedding"),
                "encoder.blocks": list_of_lists(*((built, size) for size in sizes)),
                "decoder.layers": layers,
            }
        ),
    )


def build(config: ModelConfig) -> Module:
    head, hidden = head_name(config.architecture), config.integer("d_model")
    if config.architecture == "FunnelBaseModel":
        return backbone(config, decoder=False)
    # The heads on the whole sequence read the encoder, which shortens it; the others the decoder.
    model = backbone(config, decoder=head not in ("ForSequenceClassification", "ForMultipleChoice"))
    if head == "Model":
        return model
    names = ("linear_hidden", "linear_out")
    parts: dict[str, Module | Stack | None] = {"funnel": model}
    match head:
        case "ForSequenceClassification":
            parts["classifier"] = dense_classifier(hidden, label_count(config), names=names)
        case "ForMultipleChoice":
            parts["classifier"] = dense_classifier(hidden, 1, names=names)
        case "ForPreTraining":
            parts["discriminator_predictions"] = dense_classifier(hidden, 1, names=("dense", "dense_prediction"))
        case "ForTokenClassification":
            parts["classifier"] = linear(hidden, label_count(config), part="head")
        case "ForQuestionAnswering":
            parts["qa_outputs"] = linear(hidden, label_count(config), part="head")
        case "ForMaskedLM":
            table = "funnel.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
            parts["lm_head"] = vocabulary_projection(hidden, config.integer("vocab_size"), weight=table)
        case _:
            raise unknown_head(config.architecture)
    return Module(config.architecture, children=named(parts))
