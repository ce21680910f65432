"""Do the heads divide the hidden size, where the constructor of a type refuses a model whose heads do not?"""

from __future__ import annotations

from collections.abc import Iterator

from neurarch_schemas.catalogue.load import indivisible_heads
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.refusal import Refusal

SIZES = ("hidden_size", "d_model", "n_embd")
COUNTS = ("num_attention_heads", "encoder_attention_heads", "decoder_attention_heads")
HEAD_SIZES = ("head_dim", "kv_channels", "attention_head_size", "d_kv", "head_size")


def refused_heads(config: ModelConfig) -> Iterator[Refusal]:
    always = config.model_type in indivisible_heads("refused")
    if not always and config.model_type not in indivisible_heads("needs_head_dim"):
        return
    if not always and any(_is_own(config, name) for name in HEAD_SIZES):
        return
    numbers = config.whole_numbers
    hidden = next((numbers[name] for name in SIZES if name in numbers), 0)
    for name in COUNTS:
        count = numbers.get(name, 0)
        if hidden > 0 and count > 0 and hidden % count:
            yield Refusal(
                f"{name} {count} does not divide the hidden size {hidden}", config.pointer, (name,), "heads-indivisible"
            )


def _is_own(config: ModelConfig, name: str) -> bool:
    """Given or a constant of the class, and not computed from the hidden size."""
    setting = config.setting(name)
    return setting is not None and setting.value is not None and setting.origin != "derived"
