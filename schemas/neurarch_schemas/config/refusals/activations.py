"""Activation functions that transformers does not have."""

from __future__ import annotations

from collections.abc import Iterator

from neurarch_schemas.catalogue.load import config_type, enumerations
from neurarch_schemas.config.check_types import show
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.refusal import Refusal

ACTIVATIONS = (
    "hidden_act",
    "hidden_activation",
    "activation_function",
    "dense_act_fn",
    "projector_hidden_act",
    "mamba_hidden_act",
    "feat_extract_activation",
)
"""Keys that model classes look up in the table of activations when they are built."""


def refused_activations(config: ModelConfig) -> Iterator[Refusal]:
    record = config_type(config.model_type)
    for key in ACTIVATIONS:
        value = config.get(key) if record is not None and key in record.fields else None
        if isinstance(value, str) and value not in enumerations()["activations"]:
            yield Refusal(
                f"it has no activation {show(value)}, which {key} names", config.pointer, (key,), "unknown-activation"
            )
