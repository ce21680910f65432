"""Which written keys a native config class reads, and what an unread one probably meant."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from neurarch_rules.facts.data import facts
from neurarch_rules.facts.places import written
from neurarch_rules.facts.sources import config_type, keys_of_model_code, records

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.catalogue.load import ConfigType
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.documents.json_value import JSONValue

ROPE_KEYS = ("rope_scaling", "rope_theta", "partial_rotary_factor")
FORMER_BASE_KEYS = frozenset(
    (
        "tie_encoder_decoder",
        "cross_attention_hidden_size",
        "add_cross_attention",
        "tf_legacy_loss",
        "pruned_heads",
        "prefix",
        "finetuning_task",
        "torchscript",
        "use_bfloat16",
        "is_decoder",
        "decoder_start_token_id",
        "sep_token_id",
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "tokenizer_class",
        "tie_word_embeddings",
        "gradient_checkpointing",
        "transformers.js_config",
        "transformers_weights",
        "use_flash_attn",
        "attn_implementation_internal",
        "is_composition",
    )
)
"""Keys that transformers 4 wrote into every config."""


def is_known(record: ConfigType, key: str) -> bool:
    """The class declares the key, accepts it under another name, or converts it while loading."""
    return key in record.known_names or key in _read_by_every_class() or key.startswith("_")


@cache
def _read_by_every_class() -> frozenset[str]:
    from neurarch_schemas.catalogue.load import generation_keys

    return generation_keys() | FORMER_BASE_KEYS


def unread(context: Context, config: ModelConfig) -> tuple[tuple[str, JSONValue], ...]:
    """Written keys of a native config that neither its class nor the family's model code reads.

    Model code may read a key that the class does not declare (``getattr(config, "head_dim", None)``). Families that
    once had one flat object hand its keys on to their text config: what that one knows is read.
    """
    return context.once(("unread", config.pointer), lambda: tuple(_unread(context.analysis, config)))


def _unread(analysis: Analysis, config: ModelConfig) -> Iterator[tuple[str, JSONValue]]:
    found = records(config) if config_type(config) is not None else ()
    if not found:
        return
    known = _read_by_every_class().union(*(record.known_names for record in found))
    for key, value in written(analysis, config).items():
        if key in known or key.startswith("_"):
            continue
        # The model code of a composite reads the keys of its parts from them.
        is_of_a_part = any(key in part for part in config.nested.values())
        if not is_of_a_part and any(key in keys_of_model_code(record) for record in found):
            continue
        yield key, value


@cache
def _groups() -> dict[str, tuple[str, ...]]:
    return {name: tuple(group) for group in facts("key_groups")["groups"] for name in group}


def is_usual(key: str) -> bool:
    """Some families call a common setting so."""
    return key in _groups()


def partner(record: ConfigType, key: str) -> str | None:
    """The name this class has for what other families call ``key``."""
    for name in _groups().get(key, ()):
        if name != key and is_known(record, name) and not name.startswith("_"):
            return name
    return None


@cache
def keys_of_all_types() -> frozenset[str]:
    """Every key that some model type of transformers declares."""
    return frozenset(facts("known_keys")["keys"])


@cache
def keys_any_may_have() -> frozenset[str]:
    """Keys every config class inherits, or that transformers 4 wrote into every config."""
    from neurarch_schemas.catalogue.load import base_properties, generation_keys

    return frozenset(base_properties()) | generation_keys() | FORMER_BASE_KEYS
