"""ESM-2 (Lin et al., 2023): protein language models, pre-norm encoders with a head that predicts contacts."""

from __future__ import annotations

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import dense_classifier
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.encoder import Role, bert_feed_forward, encoder_attention
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named

MODEL_TYPES = ("esm",)


def layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    decodes = config.flag("is_decoder")

    def block(role: Role) -> Module:
        return encoder_attention(
            hidden,
            heads,
            names=("self.query", "self.key", "self.value", "output.dense"),
            role=role,
            out_inputs=hidden,
            position="rope" if config.text("position_embedding_type") == "rotary" else "learned",
            extra={"LayerNorm": layer_norm(hidden)},
        )

    parts: dict[str, Module | Stack | None] = {
        "attention": block("decoder" if decodes else "encoder"),
        "crossattention": block("cross") if decodes and config.flag("add_cross_attention") else None,
        **bert_feed_forward(hidden, config.integer("intermediate_size"), norm="LayerNorm"),
    }
    return Module("EncoderLayer", children=named(parts))


def backbone(config: ModelConfig, *, with_pooler: bool) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    layers, positions = config.integer("num_hidden_layers"), config.text("position_embedding_type")
    tables: dict[str, Module | Stack | None] = {
        "word_embeddings": embedding(config.integer("vocab_size"), hidden, lookup=True),
        "layer_norm": layer_norm(hidden) if config.flag("emb_layer_norm_before") else None,
    }
    if positions == "absolute":
        tables["position_embeddings"] = position_embedding(config.integer("max_position_embeddings"), hidden)
    frequencies = Tensor("inv_freq", (-(-(hidden // heads) // 2),), "buffer")
    parts: dict[str, Module | Stack | None] = {
        "embeddings": Module("Embeddings", children=named(tables), part="embedding"),
        "rotary_embeddings": Module("RotaryEmbedding", (frequencies,)) if positions == "rotary" else None,
        "encoder.layer": uniform(layer(config), layers),
        "encoder.emb_layer_norm_after": layer_norm(hidden),
        "pooler": pooler(hidden) if with_pooler else None,
        "contact_head.regression": linear(layers * heads, 1, part="head"),
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    head, hidden = head_name(config.architecture), config.integer("hidden_size")
    if config.flag("is_folding_model") or config.architecture == "EsmForProteinFolding":
        raise CannotBuild("the folding trunk of ESMFold is not known", ("is_folding_model",))
    if head == "Model":
        return backbone(config, with_pooler=True)
    parts: dict[str, Module | Stack | None] = {"esm": backbone(config, with_pooler=False)}
    if head == "ForMaskedLM":
        vocabulary = config.integer("vocab_size")
        table = "esm.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
        top = {
            "dense": linear(hidden, hidden),
            "layer_norm": layer_norm(hidden),
            "decoder": linear(hidden, vocabulary, bias=False, tied_to=table),
        }
        parts["lm_head"] = Module("MaskedLMHead", (Tensor("bias", (vocabulary,)),), named({**top}), part="head")
    elif head == "ForSequenceClassification":
        parts["classifier"] = dense_classifier(hidden, label_count(config))
    elif head == "ForTokenClassification":
        parts["classifier"] = linear(hidden, label_count(config), part="head")
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=named(parts))
