"""DeBERTa and DeBERTa-v2/v3: disentangled attention over content and relative position (arXiv:2006.03654)."""

from __future__ import annotations

from functools import partial

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import masked_lm_head, with_encoder_head
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention_block, head_problems
from neurarch_schemas.modules.encoder import bert_embeddings, bert_feed_forward
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack

MODEL_TYPES = ("deberta", "deberta-v2")


def position_terms(config: ModelConfig) -> tuple[str, ...]:
    """Which attention terms involve relative positions: "c2p", "p2c"; a list or one string joined by "|"."""
    value = config.get("pos_att_type")
    if isinstance(value, str):
        return tuple(part.strip() for part in value.lower().split("|"))
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def relative_positions(config: ModelConfig) -> int:
    """Rows on one side of the relative-position table; -1 in the config stands for max_position_embeddings."""
    largest = config.get("max_relative_positions", -1)
    rows = largest if isinstance(largest, int) and largest >= 1 else config.integer("max_position_embeddings")
    buckets = config.get("position_buckets", -1)
    return buckets if config.model_type == "deberta-v2" and isinstance(buckets, int) and buckets > 0 else rows


def attention(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    terms = position_terms(config) if config.flag("relative_attention") else ()
    dim = hidden // heads
    children: dict[str, Module | Stack | None]
    if config.model_type == "deberta":
        width = heads * dim
        projections: dict[str, Module | Stack | None] = {"in_proj": linear(hidden, 3 * width, bias=False)}
        if config.flag("talking_head"):
            projections["head_logits_proj"] = linear(heads, heads, bias=False)
            projections["head_weights_proj"] = linear(heads, heads, bias=False)
        projections["pos_proj"] = linear(hidden, width, bias=False) if "c2p" in terms else None
        projections["pos_q_proj"] = linear(hidden, width) if "p2c" in terms else None
        biases = (Tensor("q_bias", (width,)), Tensor("v_bias", (width,)))
        children = {"self": Module("DisentangledAttention", biases, named(projections))}
    else:
        dim = config.integer("attention_head_size", dim)
        width = heads * dim
        terms = () if config.flag("share_att_key") else terms
        children = {f"self.{name}_proj": linear(hidden, width) for name in ("query", "key", "value")}
        children["self.pos_key_proj"] = linear(hidden, width) if "c2p" in terms else None
        children["self.pos_query_proj"] = linear(hidden, width) if "p2c" in terms else None
    children["output.dense"] = linear(hidden, hidden)
    children["output.LayerNorm"] = layer_norm(hidden)
    shape = AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="relative")
    return attention_block(children, shape, hidden=hidden, caches=()).with_(
        problems=head_problems(hidden, heads, heads, None)
    )


def convolution_block(config: ModelConfig) -> Module:
    """DeBERTa-v2 mixes the first layer's input by a convolution (``conv_kernel_size``)."""
    hidden, kernel = config.integer("hidden_size"), config.integer("conv_kernel_size")
    children = {
        "conv": convolution(hidden, hidden, (kernel,), groups=config.integer("conv_groups", 1)),
        "LayerNorm": layer_norm(hidden),
    }
    return Module("ConvLayer", children=named(children), part="convolution")


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    del with_pooler  # the bare model has none; the sequence classifier owns it
    hidden, kind = config.integer("hidden_size"), config.model_type
    width = config.integer("embedding_size", hidden)
    types = config.integer("type_vocab_size")
    embeddings = bert_embeddings(
        config.integer("vocab_size"),
        width,
        positions=config.integer("max_position_embeddings") if config.flag("position_biased_input", True) else None,
        types=types or None,
        norm_width=hidden,
        extra={"embed_proj": linear(width, hidden, bias=False) if width != hidden else None},
    )
    feed_forward = bert_feed_forward(hidden, config.integer("intermediate_size"))
    layer = Module("EncoderLayer", children=named({"attention": attention(config), **feed_forward}))
    children: dict[str, Module | Stack | None] = {
        "embeddings": embeddings,
        "encoder.layer": stack(layer, times=config.integer("num_hidden_layers")),
    }
    if config.flag("relative_attention"):
        children["encoder.rel_embeddings"] = position_embedding(2 * relative_positions(config), hidden)
    if kind == "deberta-v2":
        if "layer_norm" in config.text("norm_rel_ebd", "none").lower():
            children["encoder.LayerNorm"] = layer_norm(hidden)
        if config.integer("conv_kernel_size", 0) > 0:
            children["encoder.conv"] = convolution_block(config)
    return Module("Model", children=named(children))


def language_model(config: ModelConfig) -> dict[str, Module]:
    """The legacy head (the default); the newer one multiplies by the embeddings themselves."""
    if not config.flag("legacy"):
        hidden = config.integer("hidden_size")
        own = (Tensor("bias", (config.integer("vocab_size"),)),)
        inner = {"dense": linear(hidden, hidden), "LayerNorm": layer_norm(hidden)}
        return {"lm_predictions.lm_head": Module("MaskedLMHead", own, named(inner), part="head")}
    table = "deberta.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    hidden = config.integer("hidden_size")
    head = masked_lm_head(
        hidden,
        config.integer("vocab_size"),
        tied_to=table,
        name="cls.predictions",
        width=config.integer("embedding_size", hidden),
        transform=("transform.dense", "transform.LayerNorm"),
    )
    return {"cls.predictions": head}


def build(config: ModelConfig) -> Module:
    hidden, head = config.integer("hidden_size"), head_name(config.architecture)
    if head in ("ForSequenceClassification", "ForMultipleChoice"):
        pooled = config.integer("pooler_hidden_size", hidden)
        labels = 1 if head == "ForMultipleChoice" else label_count(config)
        children = {
            "deberta": backbone(config, with_pooler=False),
            "pooler": pooler(pooled),
            "classifier": linear(hidden, labels, part="head"),
        }
        if head == "ForMultipleChoice" and config.model_type == "deberta":
            raise unknown_head(config.architecture)
        return Module(config.architecture, children=named(children))
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix="deberta",
        hidden=hidden,
        language_model=partial(language_model, config),
    )
