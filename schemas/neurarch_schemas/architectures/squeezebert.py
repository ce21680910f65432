"""SqueezeBERT (arXiv:2006.11316): BERT with grouped convolutions of width one for its linear maps."""

from __future__ import annotations

from functools import partial

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import masked_lm_head, with_encoder_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention_block, head_problems
from neurarch_schemas.modules.encoder import bert_embeddings
from neurarch_schemas.modules.layers import convolution, layer_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, named, stack

MODEL_TYPES = ("squeezebert",)


def grouped(config: ModelConfig, inputs: int, outputs: int, groups: str) -> Module:
    return convolution(inputs, outputs, (1,), groups=config.integer(groups))


def layer(config: ModelConfig) -> Module:
    hidden, inner, heads = (
        config.integer("hidden_size"),
        config.integer("intermediate_size"),
        config.integer("num_attention_heads"),
    )
    shape = AttentionShape(heads, heads, hidden // heads, hidden // heads, "encoder", causal=False, position="learned")
    projections = {
        "query": grouped(config, hidden, hidden, "q_groups"),
        "key": grouped(config, hidden, hidden, "k_groups"),
        "value": grouped(config, hidden, hidden, "v_groups"),
    }
    attention = attention_block({**projections}, shape, hidden=hidden, caches=())
    return Module(
        "EncoderLayer",
        children=named(
            {
                "attention": attention.with_(problems=head_problems(hidden, heads, heads, None)),
                "post_attention.conv1d": grouped(config, hidden, hidden, "post_attention_groups").with_(
                    part="attention"
                ),
                "post_attention.layernorm": layer_norm(hidden),
                "intermediate.conv1d": grouped(config, hidden, inner, "intermediate_groups").with_(part="feed-forward"),
                "output.conv1d": grouped(config, inner, hidden, "output_groups").with_(part="feed-forward"),
                "output.layernorm": layer_norm(hidden),
            }
        ),
    )


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    del with_pooler  # every class has it
    hidden = config.integer("hidden_size")
    embeddings = bert_embeddings(
        config.integer("vocab_size"),
        config.integer("embedding_size"),
        positions=config.integer("max_position_embeddings"),
        types=config.integer("type_vocab_size"),
        norm_width=hidden,
    )
    return Module(
        "Model",
        children=named(
            {
                "embeddings": embeddings,
                "encoder.layers": stack(layer(config), times=config.integer("num_hidden_layers")),
                "pooler": pooler(hidden),
            }
        ),
    )


def language_model(config: ModelConfig) -> dict[str, Module]:
    table = "transformer.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    names = ("transform.dense", "transform.LayerNorm")
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    return {
        "cls.predictions": masked_lm_head(hidden, vocabulary, tied_to=table, name="cls.predictions", transform=names)
    }


def build(config: ModelConfig) -> Module:
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix="transformer",
        hidden=config.integer("hidden_size"),
        language_model=partial(language_model, config),
    )
