"""ESM C, a protein encoder: Llama's layout with layer norms and normalized queries and keys."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import layer_norm, linear, token_embedding
from neurarch_schemas.modules.tree import Module, named, stack

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
    if head != "ForMaskedLM":
        raise unknown_head(config.architecture)
    children = {
        "dense": linear(hidden, hidden),
        "layer_norm": layer_norm(hidden),
        "decoder": linear(hidden, config.integer("vocab_size")),
    }
    top = Module("MaskedLMHead", children=named(children), part="head")
    return Module(config.architecture, children=named({"esmc": model, "lm_head": top}))
