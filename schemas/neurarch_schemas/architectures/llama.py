"""Llama and the models that keep its layout: pre-norm RMSNorm, rotary grouped-query attention, gated MLP."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import (
    PRE_NORM,
    decoder_layer,
    feed_forward,
    head_dim,
    language_model,
    self_attention,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.tree import Module, Tensor

MODEL_TYPES = (
    "llama",
    "mistral",
    "ministral",
    "ministral3",
    "qwen2",
    "qwen2_vl_text",
    "qwen2_5_vl_text",
    "qwen3",
    "qwen3_vl_text",
    "cwm",
    "diffllama",
    "ernie4_5",
    "exaone",
    "granite",
    "granite_docling_text",
    "granite_swa",
    "hyperclovax",
    "internlm3",
    "iquestcoder",
    "seed_oss",
    "smollm3",
)

# Where the biases of (queries, keys and values), (the output) and (the feed-forward block) come from: a key, or fixed.
# exaone, internlm3 and iquestcoder are config classes only: transformers builds them with the Llama classes.
_BIASES: dict[str, tuple[str | bool, str | bool, str | bool]] = {
    "llama": ("attention_bias", "attention_bias", "mlp_bias"),
    "mistral": (False, False, False),
    "ministral": (False, False, False),
    "ministral3": (False, False, False),
    "qwen2": (True, False, False),
    "qwen2_vl_text": (True, False, False),
    "qwen2_5_vl_text": (True, False, False),
    "qwen3": ("attention_bias", "attention_bias", False),
    "qwen3_vl_text": ("attention_bias", "attention_bias", False),
    "cwm": (False, False, "mlp_bias"),
    "diffllama": ("attention_bias", "attention_bias", False),
    "ernie4_5": ("use_bias", "use_bias", "use_bias"),
    "seed_oss": ("attention_bias", "attention_out_bias", "mlp_bias"),
}

# The question answering classes of these call their backbone "transformer", all others "model".
_OLD_QUESTION_ANSWERING = (
    "llama",
    "diffllama",
    "exaone",
    "internlm3",
    "iquestcoder",
    "qwen2",
    "qwen3",
    "seed_oss",
    "smollm3",
)


def _bias(config: ModelConfig, source: str | bool) -> bool:
    return config.flag(source) if isinstance(source, str) else source


def layer(config: ModelConfig, window: int | None) -> Module:
    kind = config.model_type
    queries, output, inner = _BIASES.get(kind, _BIASES["llama"])
    mixer = self_attention(
        config,
        window,
        bias=_bias(config, queries),
        out_bias=_bias(config, output),
        qk_norm="head" if kind in ("qwen3", "qwen3_vl_text") else None,
        divided=kind in ("qwen2_vl_text", "qwen2_5_vl_text"),
    )
    if kind == "granite_swa":
        # Attention sinks: one logit a head that takes part in the softmax.
        mixer = mixer.with_(tensors=(Tensor("sinks", (config.integer("num_attention_heads"),)),))
    elif kind == "diffllama":
        # Differential attention (arXiv:2410.05258): four vectors that weigh the second attention map.
        names = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")
        mixer = mixer.with_(tensors=tuple(Tensor(name, (head_dim(config),)) for name in names))
    norms: tuple[str, ...] = PRE_NORM
    if kind == "hyperclovax" and config.flag("use_post_norm"):
        norms = (*PRE_NORM, "post_norm1", "post_norm2")
    return decoder_layer(
        config.integer("hidden_size"), mixer, feed_forward(config, bias=_bias(config, inner)), norms=norms
    )


def build(config: ModelConfig) -> Module:
    answering = "transformer" if config.model_type in _OLD_QUESTION_ANSWERING else "model"
    stack = layers(config.windows(), lambda window: layer(config, window))
    return language_model(config, stack, question_answering_prefix=answering)
