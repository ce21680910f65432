"""BART and the encoder-decoders that keep its layout, and their decoders alone (ForCausalLM)."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.encoder import bart_decoder_layer, bart_encoder_layer, encoder_attention
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack

MODEL_TYPES = (
    "bart",
    "mbart",
    "plbart",
    "mvp",
    "marian",
    "pegasus",
    "pegasus_x",
    "bigbird_pegasus",
    "blenderbot",
    "blenderbot-small",
    "m2m_100",
    "led",
    "fsmt",
    "trocr",
)

EMBEDDING_NORM = ("bart", "mbart", "plbart", "mvp", "bigbird_pegasus", "blenderbot-small", "led")
"""The sum of token and position embeddings is normalized (in trocr: by ``layernorm_embedding``)."""
FINAL_NORM = ("mbart", "pegasus", "pegasus_x", "blenderbot", "m2m_100")
"""The output is normalized (pre-norm layers)."""
POSITION_OFFSET = ("bart", "mbart", "plbart", "mvp")
"""Learned tables with two unused rows in front, as in fairseq."""
COMPUTED_POSITIONS = ("pegasus_x", "m2m_100")
"""Sinusoidal positions that are not stored; marian, pegasus and fsmt store theirs."""
LOGITS_BIAS = (
    "bart",
    "mbart",
    "plbart",
    "mvp",
    "marian",
    "pegasus",
    "bigbird_pegasus",
    "blenderbot",
    "blenderbot-small",
    "led",
)
"""The class keeps a buffer added to the logits."""


def has_bias(config: ModelConfig) -> bool:
    """Biases of attention projections."""
    if config.model_type == "bigbird_pegasus":
        return config.flag("use_bias")
    return config.model_type != "pegasus_x"


def positions(config: ModelConfig, side: str) -> int:
    """The declared length of one side, in tokens."""
    return config.integer(
        f"max_{side}_position_embeddings" if config.model_type == "led" else "max_position_embeddings"
    )


def position_table(config: ModelConfig, side: str) -> Module | None:
    kind = config.model_type
    if kind in COMPUTED_POSITIONS or (kind == "trocr" and not config.flag("use_learned_position_embeddings")):
        return None
    if kind == "fsmt":
        return position_embedding(
            positions(config, side) + config.integer("pad_token_id") + 1, config.integer("d_model")
        )
    # transformers' plain decoder of trocr has the two unused rows as well.
    offset = 2 if kind in POSITION_OFFSET or kind == "trocr" else 0
    return position_embedding(positions(config, side) + offset, config.integer("d_model"))


def prompt(config: ModelConfig, layers: int) -> Module:
    """MVP's soft prompts: a table mapped to keys and values of every layer. transformers builds the decoder's only."""
    hidden, inner = config.integer("d_model"), config.integer("prompt_mid_dim")
    children = {
        "prompt_embedding": embedding(config.integer("prompt_length"), hidden),
        "prompt_trans.0": linear(hidden, inner),
        "prompt_trans.2": linear(inner, layers * 2 * hidden),
    }
    return Module("Prompt", children=named(children), part="other")


def special_attention(config: ModelConfig) -> tuple[Module | None, dict[str, Module | Stack | None]]:
    """Encoder attention of long-document models, and what the layer has besides."""
    hidden, heads, kind = config.integer("d_model"), config.integer("encoder_attention_heads"), config.model_type
    if kind == "pegasus_x":
        attention = encoder_attention(hidden, heads, bias=False)
        return attention, {"global_self_attn_layer_norm": layer_norm(hidden)}
    if kind not in ("bigbird_pegasus", "led"):
        return None, {}
    dim = hidden // heads
    shape = AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="learned")
    names = ["query", "key", "value"]
    path = "self"
    if kind == "led":
        path = "longformer_self_attn"
        names += [f"{name}_global" for name in names]
    bias = has_bias(config)
    children: dict[str, Module | Stack | None] = {f"{path}.{name}": linear(hidden, hidden, bias) for name in names}
    children["output"] = linear(hidden, hidden, bias)
    return attention_block(children, shape, hidden=hidden, caches=()), {}


def encoder(config: ModelConfig, table: Module) -> Module:
    hidden, kind, count = config.integer("d_model"), config.model_type, config.integer("encoder_layers")
    heads = config.integer("encoder_attention_heads")
    attention, extra = special_attention(config)
    layer = bart_encoder_layer(hidden, heads, config.integer("encoder_ffn_dim"), attention=attention, extra=extra)
    return Module(
        "Encoder",
        children=named(
            {
                "embed_tokens": table,
                "embed_global": embedding(config.integer("num_global_tokens"), hidden) if kind == "pegasus_x" else None,
                "embed_positions": position_table(config, "encoder"),
                "layers": stack(layer, times=count),
                "layernorm_embedding": layer_norm(hidden) if kind in EMBEDDING_NORM else None,
                "layer_norm": layer_norm(hidden) if kind in FINAL_NORM else None,
            }
        ),
    )


def decoder(config: ModelConfig, table: Module, *, alone: bool) -> Module:
    """``alone``: without an encoder, whose output nothing attends to or caches."""
    hidden, kind, count = config.integer("d_model"), config.model_type, config.integer("decoder_layers")
    layer = bart_decoder_layer(
        hidden,
        config.integer("decoder_attention_heads"),
        config.integer("decoder_ffn_dim"),
        bias=has_bias(config),
        source_hidden=config.optional_integer("cross_attention_hidden_size") if kind == "trocr" else None,
        source_length=None if alone else positions(config, "encoder"),
        source_cached=not alone,
    )
    embedding_norm = kind in EMBEDDING_NORM or (kind == "trocr" and config.flag("layernorm_embedding"))
    use_prompt = kind == "mvp" and config.flag("use_prompt") and not alone
    return Module(
        "Decoder",
        children=named(
            {
                "embed_tokens": table,
                "embed_positions": position_table(config, "decoder"),
                "layers": stack(layer, times=count),
                "layernorm_embedding": layer_norm(hidden) if embedding_norm else None,
                "layer_norm": layer_norm(hidden) if kind in FINAL_NORM else None,
                "self_attn_prompt": prompt(config, count) if use_prompt else None,
                "cross_attn_prompt": prompt(config, count) if use_prompt else None,
            }
        ),
    )


def causal_model(config: ModelConfig) -> Module:
    """The decoder alone, with an output projection. bigbird_pegasus does not tie it."""
    hidden, kind = config.integer("d_model"), config.model_type
    vocabulary = config.integer("vocab_size")
    # An untied marian decoder reads its own vocabulary and predicts the encoder's.
    rows = config.integer("decoder_vocab_size") if kind == "marian" else vocabulary
    model = decoder(config, embedding(rows, hidden, lookup=True), alone=True)
    tied = config.flag("tie_word_embeddings") and kind != "bigbird_pegasus"
    shared = "model.decoder.embed_tokens.weight" if tied else None
    name = "output_projection" if kind == "trocr" else "lm_head"
    head = linear(hidden, vocabulary, bias=False, tied_to=shared, part="head")
    return Module(config.architecture, children=named({"model.decoder": model, name: head}))


def encoder_decoder(config: ModelConfig, prefix: str) -> Module:
    """The bare model. Tied, both sides read the table ``shared``; untied, transformers builds three tables.

    A marian model with ``share_encoder_decoder_embeddings`` off has no ``shared`` and two vocabularies.
    """
    hidden, kind = config.integer("d_model"), config.model_type
    if kind == "fsmt":
        shared = f"{prefix}encoder.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
        # Tied, the encoder's table is replaced by the decoder's, whatever its own vocabulary.
        rows = config.integer("tgt_vocab_size" if shared else "src_vocab_size")
        source = embedding(rows, hidden, lookup=True)
        target = embedding(config.integer("tgt_vocab_size"), hidden, lookup=True, tied_to=shared)
        model = decoder(config, target, alone=False)
        vocabulary = config.integer("tgt_vocab_size")
        projection = linear(hidden, vocabulary, bias=False, tied_to=shared, part="head")
        model = model.with_(children=(*model.children, ("output_projection", projection)))
        return Module("Model", children=named({"encoder": encoder(config, source), "decoder": model}))
    vocabulary = config.integer("vocab_size")
    shares = kind != "marian" or config.flag("share_encoder_decoder_embeddings")
    shared = f"{prefix}shared.weight" if config.flag("tie_word_embeddings") and shares else None
    target_vocabulary = config.integer("decoder_vocab_size") if kind == "marian" else vocabulary
    return Module(
        "Model",
        children=named(
            {
                "shared": embedding(vocabulary, hidden, lookup=True) if shares else None,
                "encoder": encoder(config, embedding(vocabulary, hidden, lookup=True, tied_to=shared)),
                "decoder": decoder(
                    config, embedding(target_vocabulary, hidden, lookup=True, tied_to=shared), alone=False
                ),
            }
        ),
    )


def generating_model(config: ModelConfig) -> Module:
    hidden, kind = config.integer("d_model"), config.model_type
    prefix = "led" if kind == "led" else "model"
    children: dict[str, Module | Stack | None] = {prefix: encoder_decoder(config, f"{prefix}.")}
    if kind == "fsmt":
        return Module(config.architecture, children=named(children))
    vocabulary = config.integer("vocab_size")
    table = f"{prefix}.shared.weight"
    if kind == "marian" and not config.flag("share_encoder_decoder_embeddings"):
        vocabulary, table = config.integer("decoder_vocab_size"), "model.decoder.embed_tokens.weight"
    tied = table if config.flag("tie_word_embeddings") else None
    children["lm_head"] = linear(hidden, vocabulary, bias=False, tied_to=tied, part="head")
    buffers = (Tensor("final_logits_bias", (1, vocabulary), "buffer"),) if kind in LOGITS_BIAS else ()
    return Module(config.architecture, buffers, named(children))


def build(config: ModelConfig) -> Module:
    head, kind, hidden = head_name(config.architecture), config.model_type, config.integer("d_model")
    if head == "ForCausalLM":
        return causal_model(config)
    if kind == "trocr":
        raise unknown_head(config.architecture)
    if head in ("ForConditionalGeneration", "MTModel") or config.architecture == "MarianMTModel":
        return generating_model(config)
    prefix = "led" if kind == "led" else "model"
    if head == "Model":
        return encoder_decoder(config, "")
    if head == "ForSequenceClassification":
        classifier = {"dense": linear(hidden, hidden), "out_proj": linear(hidden, label_count(config))}
        top = ("classification_head", Module("ClassificationHead", children=named(classifier), part="head"))
    elif head == "ForQuestionAnswering":
        top = ("qa_outputs", linear(hidden, 2, part="head"))  # whatever the labels are
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=named({prefix: encoder_decoder(config, f"{prefix}."), top[0]: top[1]}))
