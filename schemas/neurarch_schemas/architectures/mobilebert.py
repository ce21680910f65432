"""MobileBERT (arXiv:2004.02984): thin layers between bottlenecks, several feed-forwards a layer."""

from __future__ import annotations

from functools import partial

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import vocabulary_projection, with_encoder_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack

MODEL_TYPES = ("mobilebert",)


def inner_size(config: ModelConfig) -> int:
    own = config.setting("true_hidden_size")
    if own is not None and own.origin == "written":
        return config.integer("true_hidden_size")
    return config.integer("intra_bottleneck_size" if config.flag("use_bottleneck") else "hidden_size")


def dense_norm(inputs: int, outputs: int) -> dict[str, Module | Stack | None]:
    """Both kinds of normalization ("no_norm" is a scale and a shift) have a weight and a bias."""
    return {"dense": linear(inputs, outputs), "LayerNorm": layer_norm(outputs)}


def attention(config: ModelConfig) -> Module:
    hidden, inner, heads = config.integer("hidden_size"), inner_size(config), config.integer("num_attention_heads")
    dim = inner // heads
    source = inner if config.flag("use_bottleneck_attention") else hidden
    return attention_block(
        {
            "self.query": linear(inner, heads * dim),
            "self.key": linear(inner, heads * dim),
            "self.value": linear(source, heads * dim),
            "output.dense": linear(inner, inner),
            "output.LayerNorm": layer_norm(inner),
        },
        AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="learned"),
        hidden=inner,
        caches=(),
    )


def layer(config: ModelConfig) -> Module:
    hidden, inner, wide = config.integer("hidden_size"), inner_size(config), config.integer("intermediate_size")
    bottleneck: dict[str, Module | Stack | None] = {}
    output = dense_norm(wide, inner)
    if config.flag("use_bottleneck"):
        narrow = config.integer("intra_bottleneck_size")
        bottleneck["input"] = Module("Bottleneck", children=named(dense_norm(hidden, narrow)))
        if config.flag("key_query_shared_bottleneck"):
            bottleneck["attention"] = bottleneck["input"]
        output["bottleneck"] = Module("Bottleneck", children=named(dense_norm(inner, hidden)))
    feed_forward = {
        "intermediate.dense": linear(inner, wide),
        "output": Module("Output", children=named(dense_norm(wide, inner))),
    }
    further = Module("FeedForward", children=named(feed_forward), part="feed-forward")
    return Module(
        "EncoderLayer",
        children=named(
            {
                "attention": attention(config),
                "intermediate.dense": linear(inner, wide, part="feed-forward"),
                "output": Module("Output", children=named(output), part="feed-forward"),
                "bottleneck": Module("Bottlenecks", children=named(bottleneck)) if bottleneck else None,
                "ffn": stack(further, times=config.integer("num_feedforward_networks") - 1),
            }
        ),
    )


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    """With ``trigram_input`` a token is read together with its two neighbours."""
    hidden, width = config.integer("hidden_size"), config.integer("embedding_size")
    joined = width * (3 if config.flag("trigram_input") else 1)
    embeddings = {
        "word_embeddings": embedding(config.integer("vocab_size"), width, lookup=True),
        "position_embeddings": position_embedding(config.integer("max_position_embeddings"), hidden),
        "token_type_embeddings": embedding(config.integer("type_vocab_size"), hidden),
        "embedding_transformation": linear(joined, hidden),
        "LayerNorm": layer_norm(hidden),
    }
    use_pooler = with_pooler and config.flag("classifier_activation")
    return Module(
        "Model",
        children=named(
            {
                "embeddings": Module("Embeddings", children=named(embeddings), part="embedding"),
                "encoder.layer": stack(layer(config), times=config.integer("num_hidden_layers")),
                "pooler": pooler(hidden) if use_pooler else None,
            }
        ),
    )


def language_model(config: ModelConfig) -> dict[str, Module]:
    """The output matrix is the token table, completed by ``dense`` to the hidden size."""
    hidden, width, vocabulary = (
        config.integer("hidden_size"),
        config.integer("embedding_size"),
        config.integer("vocab_size"),
    )
    tied = config.flag("tie_word_embeddings")
    if hidden < width:
        raise CannotBuild("embedding_size exceeds hidden_size", ("embedding_size", "hidden_size"))
    projection = vocabulary_projection(
        width,
        vocabulary,
        weight="mobilebert.embeddings.word_embeddings.weight" if tied else None,
        bias="cls.predictions.bias" if tied else None,
    )
    children = {
        "transform.dense": linear(hidden, hidden),
        "transform.LayerNorm": layer_norm(hidden),
        "dense": linear(vocabulary, hidden - width, bias=False),
        "decoder": projection,
    }
    head = Module("MaskedLMHead", (Tensor("bias", (vocabulary,)),), named(children), part="head")
    return {"cls.predictions": head}


def build(config: ModelConfig) -> Module:
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix="mobilebert",
        hidden=config.integer("hidden_size"),
        language_model=partial(language_model, config),
    )
