"""Does transformers have the class that ``architectures`` names?"""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config.language_model import SIZES
from neurarch_schemas.config.model_config import ModelConfig

LANGUAGE_MODELS = frozenset({"ForCausalLM", "LMHeadModel", "ForConditionalGeneration"})
"""Heads that stand for each other: a type has its language model under one of them."""


def absent_class(config: ModelConfig) -> str | None:
    """Why no class of transformers 5.24 is counted; None where there is one.

    A name with a prefix of its own ("KimiK25ForConditionalGeneration" for Kimi_K25...) loads with the auto class of its
    head, as published configs do.
    """
    record = config_type(config.model_type) if config.is_native else None
    if record is None or not config.architecture or config.architecture in record.classes:
        return None
    head, heads = head_name(config.architecture), {head_name(name) for name in record.classes}
    if head in heads or (head in LANGUAGE_MODELS and not LANGUAGE_MODELS.isdisjoint(heads)):
        return _of_another_library(config)
    return f"transformers 5.24 has no {config.architecture}, and no other class of {config.model_type} with that head"


def _of_another_library(config: ModelConfig) -> str | None:
    """Where a class with its sizes beside each other is read as one with nested configs (the first LLaVA as
    transformers' own), its sizes are not those that are counted."""
    text = config.nested.get("text_config")
    for key in SIZES if text is not None else ():
        setting = text.setting(key) if text is not None else None
        if setting is None or setting.origin == "written" or key not in config.whole_numbers:
            continue
        if config.whole_numbers[key] != setting.value:
            return f"transformers 5.24 has no {config.architecture} and reads no {key} here: it builds {setting.value}"
    return None
