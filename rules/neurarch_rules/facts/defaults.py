"""Whether what is written is what the config class fills in itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.facts.places import as_written
from neurarch_rules.facts.sources import config_type

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig


def are_defaults(config: ModelConfig, *names: str) -> bool:
    """Whether every one of these settings has the value its class gives a config that writes nothing.

    A contradiction between such values alone is the class's own: transformers writes it into every file it saves, the
    model is built all the same, and nobody who reads the file chose any of it.
    """
    record = config_type(config)
    if record is None:
        return False
    for name in names:
        setting, canonical = as_written(config, name), record.canonical(name)
        if setting is None or canonical not in record.resolved or record.resolved[canonical] != setting.value:
            return False
    return True
