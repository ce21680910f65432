"""Where composite models keep the config of their language model."""

from __future__ import annotations

from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue

SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
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


def unread_language_model(config: ModelConfig) -> str | None:
    """Why the sizes that a file states are not those of the model that is built: they stand under a key that the
    config class does not read, and it takes its own defaults instead. None where that is not so."""
    record = config_type(config.model_type) if config.is_native else None
    if record is None:
        return None
    stated = [config, *config.nested.values()]
    if any(setting.origin == "written" for each in stated for key in SIZES if (setting := each.setting(key))):
        return None
    for name in LANGUAGE_MODELS:
        if name in config and name not in record.known_names and _states_sizes(config.get(name)):
            return f"{config.config_class} of transformers 5.24 reads no {name}: it builds the sizes of its defaults"
    return None


def _states_sizes(value: JSONValue) -> bool:
    return isinstance(value, dict) and (
        not value.keys().isdisjoint(SIZES) or any(_states_sizes(each) for each in value.values())
    )
