"""Audio-language models: an encoder, a small projector and a language model.

The output heads of Qwen2-Audio, Voxtral and the Flamingos are never tied: their classes declare no tied weights.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import (
    GENERATING,
    projector,
    text_model,
    tower,
    two_layer_projector,
    with_output_head,
)
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack

MODEL_TYPES = (
    "qwen2_audio",
    "voxtral",
    "voxtral_realtime",
    "audioflamingo3",
    "musicflamingo",
    "qwen3_asr",
    "glmasr",
    "moss_transcribe_diarize",
)

_NEVER_TIED = ("qwen2_audio", "voxtral", "audioflamingo3", "musicflamingo")


def multimodal_projector(config: ModelConfig) -> dict[str, Module | Stack | None]:
    audio, hidden = config.nested_config("audio_config"), config.nested_config("text_config").integer("hidden_size")
    width = audio.integer("d_model" if audio.is_set("d_model") else "hidden_size")
    match config.model_type:
        case "qwen2_audio":
            return {"linear": linear(width, hidden)}
        case "voxtral":
            # Neighbouring frames are joined to the width of the encoder's feed-forward.
            return two_layer_projector(audio.integer("intermediate_size"), hidden, bias=False)
        case "voxtral_realtime":
            return two_layer_projector(width * config.integer("downsample_factor"), hidden, bias=False)
        case "qwen3_asr":
            return two_layer_projector(width, audio.integer("output_dim"), inner=width)
        case "glmasr":
            return two_layer_projector(audio.integer("intermediate_size"), hidden, inner=2 * hidden)
        case "moss_transcribe_diarize":
            joined = width * config.integer("audio_merge_size")
            bias = config.flag("projector_bias")
            return {**two_layer_projector(joined, hidden, bias=bias), "norm": layer_norm(hidden)}
    return two_layer_projector(width, hidden, bias=config.flag("projector_bias"))


def build(config: ModelConfig) -> Module:
    parts: dict[str, Module | Stack | None] = {
        "audio_tower": tower(config, "audio_config", "audio"),
        "language_model": text_model(config),
        "multi_modal_projector": projector(multimodal_projector(config)),
    }
    return with_output_head(
        config,
        parts,
        tied=False if config.model_type in _NEVER_TIED else None,
        heads=(*GENERATING, "ForTokenClassification") if config.model_type == "qwen3_asr" else GENERATING,
    )
