"""ProphetNet (arXiv:2001.04063): an encoder-decoder whose decoder predicts several future tokens at once."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import Role, encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, named, stack

MODEL_TYPES = ("prophetnet",)

NAMES = ("query_proj", "key_proj", "value_proj", "out_proj")


def attention(config: ModelConfig, heads: str, role: Role, *, ngram: bool = False, alone: bool = False) -> Module:
    hidden, count = config.integer("hidden_size"), config.integer(heads)
    buckets = config.integer("num_buckets")
    return encoder_attention(
        hidden,
        count,
        names=NAMES,
        role=role,
        position="learned",
        source_length=None if alone else config.integer("max_position_embeddings"),
        cached=not (alone and role == "cross"),
        extra={"relative_pos_embeddings": linear(hidden, buckets * count)} if ngram else None,
    )


def side(config: ModelConfig, *, decoder: bool, tied_to: str | None, alone: bool) -> Module:
    hidden, name = config.integer("hidden_size"), "decoder" if decoder else "encoder"
    heads = f"num_{name}_attention_heads"
    cross = decoder and config.flag("add_cross_attention")
    feed_forward = mlp(hidden, config.integer(f"{name}_ffn_dim"), names=("intermediate", "output"))
    layer = Module(
        "DecoderLayer" if decoder else "EncoderLayer",
        children=named(
            {
                "self_attn": attention(config, heads, "decoder" if decoder else "encoder", ngram=decoder),
                "self_attn_layer_norm": layer_norm(hidden),
                "cross_attn": attention(config, heads, "cross", alone=alone) if cross else None,
                "cross_attn_layer_norm": layer_norm(hidden) if cross else None,
                "feed_forward": feed_forward,
                "feed_forward_layer_norm": layer_norm(hidden),
            }
        ),
    )
    return Module(
        "Decoder" if decoder else "Encoder",
        children=named(
            {
                "word_embeddings": embedding(config.integer("vocab_size"), hidden, lookup=True, tied_to=tied_to),
                "position_embeddings": position_embedding(config.integer("max_position_embeddings"), hidden),
                "ngram_embeddings": embedding(config.integer("ngram"), hidden) if decoder else None,
                "layers": stack(layer, times=config.integer(f"num_{name}_layers")),
                "embeddings_layer_norm": layer_norm(hidden),
            }
        ),
    )


def build(config: ModelConfig) -> Module:
    """Tied, all tables share ``word_embeddings``; the decoder used alone has that table as well."""
    head, hidden = head_name(config.architecture), config.integer("hidden_size")
    if head not in ("Model", "ForCausalLM", "ForConditionalGeneration"):
        raise unknown_head(config.architecture)
    alone = head == "ForCausalLM"
    prefix = "" if head == "Model" else "prophetnet."
    tied = f"{prefix}word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    vocabulary = config.integer("vocab_size")
    model = Module(
        "Model",
        children=named(
            {
                "word_embeddings": embedding(vocabulary, hidden, lookup=True),
                "encoder": None if alone else side(config, decoder=False, tied_to=tied, alone=False),
                "decoder": side(config, decoder=True, tied_to=tied, alone=alone),
            }
        ),
    )
    if head == "Model":
        return model
    output = linear(hidden, vocabulary, bias=False, tied_to=tied, part="head")
    return Module(config.architecture, children=named({"prophetnet": model, "lm_head": output}))
