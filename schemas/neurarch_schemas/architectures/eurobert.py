"""EuroBERT (arXiv:2503.05500): Llama's layers without the causal mask."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, named, stack

MODEL_TYPES = ("eurobert",)


def backbone(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    layer = Module(
        "EncoderLayer",
        children=named(
            {
                "self_attn": attention(
                    hidden,
                    config.integer("num_attention_heads"),
                    config.optional_integer("num_key_value_heads"),
                    config.optional_integer("head_dim"),
                    bias=config.flag("attention_bias"),
                    kind="encoder",
                    cached=False,
                ),
                "mlp": gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
                "input_layernorm": rms_norm(hidden),
                "post_attention_layernorm": rms_norm(hidden),
            }
        ),
    )
    return Module(
        "Model",
        children=named(
            {
                "embed_tokens": token_embedding(config.integer("vocab_size"), hidden),
                "layers": stack(layer, times=config.integer("num_hidden_layers")),
                "norm": rms_norm(hidden),
            }
        ),
    )


def build(config: ModelConfig) -> Module:
    """The masked-language-model head has a bias when the feed-forwards do (``mlp_bias``)."""
    hidden, head = config.integer("hidden_size"), head_name(config.architecture)
    children: dict[str, Module | Stack | None] = {"model": backbone(config)}
    if head == "Model":
        return backbone(config)
    if head == "ForMaskedLM":
        tied = "model.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
        vocabulary = config.integer("vocab_size")
        children["lm_head"] = linear(hidden, vocabulary, config.flag("mlp_bias"), tied_to=tied, part="head")
    elif head == "ForSequenceClassification":
        children["dense"] = linear(hidden, hidden, part="head")
        children["classifier"] = linear(hidden, label_count(config), part="head")
    elif head == "ForTokenClassification":
        children["classifier"] = linear(hidden, label_count(config), part="head")
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=named(children))
