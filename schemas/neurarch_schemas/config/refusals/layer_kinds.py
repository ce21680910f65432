"""Written lists of layer kinds that ``validate_layer_type`` of transformers 5.24 raises about."""

from __future__ import annotations

from collections.abc import Iterator

from neurarch_schemas.catalogue.load import enumerations
from neurarch_schemas.config.check_types import show
from neurarch_schemas.config.model_config import LISTS_OF_LAYER_KINDS, ModelConfig
from neurarch_schemas.config.refusals.refusal import Refusal

OWN_CHECK = frozenset({"deepseek_v4", "neomme", "nemotron_h", "resnet"})
"""Their classes look at the kinds in a way of their own."""


def refused_layer_kinds(config: ModelConfig) -> Iterator[Refusal]:
    """Kinds transformers does not have, or another number of them than there are layers."""
    count = config.get("num_hidden_layers")
    if config.model_type in OWN_CHECK or "num_hidden_layers" not in config:
        return
    for name in sorted(LISTS_OF_LAYER_KINDS):
        value = config.get(name)
        if not isinstance(value, list):
            return
        allowed = enumerations()[name]
        foreign = next((item for item in value if item not in allowed), None)
        if foreign is not None:
            yield Refusal(
                f"{name} has {show(foreign)}, which is no kind of layer", config.pointer, (name,), "layer-list-values"
            )
        elif isinstance(count, int) and count != len(value):
            yield Refusal(
                f"{name} has {len(value)} entries for {count} layers",
                config.pointer,
                (name, "num_hidden_layers"),
                "layer-list-length",
            )
