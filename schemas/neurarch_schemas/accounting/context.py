"""The context length a config declares."""

from __future__ import annotations

from neurarch_schemas.config.language_model import LANGUAGE_CONFIGS
from neurarch_schemas.config.model_config import ModelConfig

KEYS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_len",
    "seq_length",
    "max_target_positions",
)
"""Keys that state a context length, the most authoritative first; synonyms are resolved before this looks."""


def declared_context(config: ModelConfig) -> int | None:
    """Tokens; None where nothing is declared (ALiBi, state-space models). A composite's text config speaks for it."""
    for name in LANGUAGE_CONFIGS:
        nested = config.nested.get(name)
        found = None if nested is None else declared_context(nested)
        if found is not None:
            return found
    for key in KEYS:
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
