"""Higgs Audio v2: a Llama-like model whose layers have a second feed-forward block, with norms, for audio positions."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import with_output_head
from neurarch_schemas.architectures.decoder import PRE_NORM, decoder_layer, feed_forward, self_attention
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import embedding, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, children

MODEL_TYPES = ("higgs_audio_v2",)


def build(config: ModelConfig) -> Module:
    """The class puts a head over all codebooks on top; its text head is only made on demand."""
    hidden = config.integer("hidden_size")
    transform = feed_forward(config, bias=config.flag("mlp_bias"))
    mixer = self_attention(config, bias=config.flag("attention_bias"))
    norms = (*PRE_NORM, *(f"audio_{name}" for name in PRE_NORM))
    layer = decoder_layer(hidden, mixer, transform, norms=norms)
    layer = layer.with_(children=(*layer.children, ("audio_mlp", transform)))
    codes = config.integer("num_codebooks") * config.integer("codebook_size")
    parts: dict[str, Module | Stack | None] = {
        "embed_tokens": token_embedding(config.integer("vocab_size"), hidden),
        "layers": uniform(layer, config.integer("num_hidden_layers")),
        "norm": rms_norm(hidden),
        "embed_audio_tokens": Module("AudioEmbedding", children=children(embed_audio_tokens=embedding(codes, hidden))),
    }
    return with_output_head(config, parts, text=config, tied=False, vocabulary=codes, output="audio_lm_head")
