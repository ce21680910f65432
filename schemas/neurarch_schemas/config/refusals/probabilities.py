"""Dropout rates outside 0 to 1, which torch's dropout layers raise about when they are made."""

from __future__ import annotations

from collections.abc import Iterator

from neurarch_schemas.config.check_types import show
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.refusal import Refusal

ENDINGS = ("dropout_prob", "dropout_rate", "pdrop", "hidden_dropout", "embedding_dropout")
"""Keys that go to layers; others (attention_dropout) go to functions, which only training runs."""


def refused_probabilities(config: ModelConfig) -> Iterator[Refusal]:
    for name, setting in config.settings.items():
        value = setting.value
        if setting.origin != "written" or not name.endswith(ENDINGS) or not isinstance(value, int | float):
            continue
        if not 0 <= value <= 1:
            yield Refusal(f"{name} {show(value)} is no probability", config.pointer, (name,), "value-out-of-range")
