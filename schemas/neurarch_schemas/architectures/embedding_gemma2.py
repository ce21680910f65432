"""EmbeddingGemma 2: a bidirectional text encoder, optionally with encoders for images and audio."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Stack

MODEL_TYPES = ("embedding_gemma2",)


def embedder(tower_config: ModelConfig, hidden: int) -> Module:
    """A norm without weights and a linear map."""
    features = tower_config.integer("output_proj_dims", tower_config.integer("hidden_size"))
    return projector({"embedding_projection": linear(features, hidden, bias=False)})


def build(config: ModelConfig) -> Module:
    hidden = config.nested_config("text_config").integer("hidden_size")
    vision, audio = config.nested.get("vision_config"), config.nested.get("audio_config")
    parts: dict[str, Module | Stack | None] = {
        "vision_tower": tower(config) if vision else None,
        "language_model": text_model(config),
        "audio_tower": tower(config, "audio_config", "audio") if audio else None,
        "embed_vision": embedder(vision, hidden) if vision else None,
        "embed_audio": embedder(audio, hidden) if audio else None,
    }
    return with_output_head(config, parts, heads=())
