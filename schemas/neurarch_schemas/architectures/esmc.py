"""ESM C, a protein encoder: Llama's layout with layer norms and normalized queries and keys."""

from __future__ import annotations

from neurarch_schemas.architectures.encoder_heads import dense_classifier
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import layer_norm, linear, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, named, stack

MODEL_TYPES = ("esmc",)


def backbone(config: ModelConfig) -> Module:
    """The norms of queries and keys span all heads."""
    hidden = config.integer("hidden_size")
    mixer = attention(
        hidden,
        config.integer("num_attention_heads"),
        config.optional_integer("num_key_value_heads"),
        config.optional_integer("head_dim"),
        bias=config.flag("attention_bias"),
        kind="encoder",
        cached=False,
        qk_norm=True,
        extra={"q_norm": layer_norm(hidden, bias=False), "k_norm": layer_norm(hidden, bias=False)},
    )
    layer = Module(
        "EncoderLayer",
        children=named(
            {
                "self_attn": mixer,
                "mlp": gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
                "input_layernorm": layer_norm(hidden),
                "post_attention_layernorm": layer_norm(hidden),
            }
        ),
    )
    return Module(
        "Model",
        children=named(
            {
                "embed_tokens": token_embedding(config.integer("vocab_size"), hidden),
                "layers": stack(layer, times=config.integer("num_hidden_layers")),
                "norm": layer_norm(hidden, bias=False),
            }
        ),
    )


def build(config: ModelConfig) -> Module:
    hidden, head = config.integer("hidden_size"), head_name(config.architecture)
    model = backbone(config)
    if head == "Model":
        return model
    parts: dict[str, Module | Stack | None] = {"esmc": model}
    if head == "ForSequenceClassification":
        parts["classifier"] = dense_classifier(hidden, label_count(config))
        return Module(config.architecture, children=named(parts))
    if head == "ForTokenClassification":
        parts["score"] = linear(hidden, label_count(config), part="head")
        return Module(config.architecture, children=named(parts))
    if head != "ForMaskedLM":
        raise unknown_head(config.architecture)
    children = {
        "dense": linear(hidden, hidden),
        "layer_norm": layer_norm(hidden),
        "decoder": linear(hidden, config.integer("vocab_size")),
    }
    parts["lm_head"] = Module("MaskedLMHead", children=named(children), part="head")
    return Module(config.architecture, children=named(parts))
