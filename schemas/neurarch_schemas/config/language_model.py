"""Where composite models keep the config of their language model."""

from __future__ import annotations

from neurarch_schemas.config.model_config import ModelConfig

LANGUAGE_MODELS = ("text_config", "thinker_config", "llm_config", "language_config")
"""Keys of nested configs that describe a whole language model, in the order they are looked for."""
DECODERS = ("decoder", "decoder_config", "generator")
"""Keys under which pairs of encoder and decoder keep the half that writes."""
LANGUAGE_CONFIGS = (*LANGUAGE_MODELS, *DECODERS)


def language_config(config: ModelConfig) -> ModelConfig:
    """The config that describes the language model: a composite's text config, else itself."""
    for name in LANGUAGE_CONFIGS:
        if name in config.nested:
            return language_config(config.nested[name])
    return config
