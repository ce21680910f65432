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
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = (
    "llama",
    "mistral",
    "ministral",
    "ministral3",
    "qwen2",
    "qwen2_vl_text",
    "qwen2_5_vl_text",
    "qwen2_5_omni_text",
    "qwen3",
    "qwen3_vl_text",
    "cwm",
    "diffllama",
    "emu3_text_model",
    "ernie4_5",
    "exaone",
    "granite",
    "granite4_vision_text",
    "granite_docling_text",
    "granite_swa",
    "hunyuan_v1_dense",
    "hunyuan_vl_text",
    "hyperclovax",
    "internlm3",
    "iquestcoder",
    "paddleocr_vl_text",
    "seed_oss",
    "smollm3",
    "voxtral_realtime_text",
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
    "qwen2_5_omni_text": (True, False, False),
    "qwen3": ("attention_bias", "attention_bias", False),
    "qwen3_vl_text": ("attention_bias", "attention_bias", False),
    "cwm": (False, False, "mlp_bias"),
    "diffllama": ("attention_bias", "attention_bias", False),
    "ernie4_5": ("use_bias", "use_bias", "use_bias"),
    "hunyuan_v1_dense": ("attention_bias", "attention_bias", False),
    "hunyuan_vl_text": ("attention_bias", "attention_bias", False),
    "paddleocr_vl_text": ("use_bias", "use_bias", "use_bias"),
    "seed_oss": ("attention_bias", "attention_out_bias", "mlp_bias"),
    "voxtral_realtime_text": (False, False, False),
}

_QUERY_KEY_NORMS = {
    "qwen3": ("q_norm", "k_norm"),
    "qwen3_vl_text": ("q_norm", "k_norm"),
    "hunyuan_v1_dense": ("query_layernorm", "key_layernorm"),
    "hunyuan_vl_text": ("query_layernorm", "key_layernorm"),
}

# The question answering classes of these call their backbone "transformer", all others "model".
_OLD_QUESTION_ANSWERING = (
    "llama",
    "diffllama",
    "exaone",
    "internlm3",
    "iquestcoder",
    "ministral",
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
        qk_norm="head" if kind in _QUERY_KEY_NORMS else None,
        norm_names=_QUERY_KEY_NORMS.get(kind, ("q_norm", "k_norm")),
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
    hidden = config.integer("hidden_size")
    block = decoder_layer(hidden, mixer, feed_forward(config, bias=_bias(config, inner)), norms=norms)
    if kind == "voxtral_realtime_text":
        return block.with_(children=(*block.children, ("ada_rms_norm", delay_scale(hidden))))
    return block


def delay_scale(hidden: int) -> Module:
    """Voxtral Realtime scales the normed stream by what two narrow maps make of the delay; the width is fixed."""
    inner = 32
    maps = children(linear1=linear(hidden, inner, bias=False), linear2=linear(inner, hidden, bias=False))
    return Module("AdaptiveNorm", children=maps)


def build(config: ModelConfig) -> Module:
    answering = "transformer" if config.model_type in _OLD_QUESTION_ANSWERING else "model"
    stack = layers(config.windows(), lambda window: layer(config, window))
    return language_model(config, stack, question_answering_prefix=answering)
