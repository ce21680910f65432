"""Per-layer settings of a config."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig


def layer_types(config: ModelConfig) -> tuple[str, ...]:
    """The distinct layer types in order of appearance, written or derived; () where there are none."""
    pattern = config.patterns.get(config.synonyms.get("layer_types", "layer_types"))
    written = config.get("layer_types")
    values: list[object] = []
    if isinstance(written, list):
        values = list(written)
    elif pattern is not None:
        values = [item for run in pattern.runs for item in run.period]
    return tuple(dict.fromkeys(item for item in values if isinstance(item, str)))


def mtp_layers(config: ModelConfig) -> int:
    """Multi-token-prediction layers, which lie behind the ordinary ones and have no place in their count."""
    for key in ("num_nextn_predict_layers", "num_mtp_layers", "num_mtp_modules", "mtp_num_hidden_layers"):
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0
