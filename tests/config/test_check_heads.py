"""Head counts that the constructors of transformers 5.24 refuse."""

from __future__ import annotations

from typing import Any

import pytest
from tests.architectures.conftest import recorded

from neurarch_schemas.catalogue.load import index
from neurarch_schemas.config.check_heads import refused_heads
from neurarch_schemas.config.read import read_config


@pytest.mark.parametrize(
    ("data", "is_refused"),
    [
        ({"model_type": "whisper", "d_model": 384, "encoder_attention_heads": 14}, True),
        ({"model_type": "whisper", "d_model": 384, "decoder_attention_heads": 14}, True),
        ({"model_type": "whisper", "d_model": 384, "encoder_attention_heads": 12, "decoder_attention_heads": 6}, False),
        ({"model_type": "bart", "d_model": 98, "encoder_attention_heads": 7, "decoder_attention_heads": 6}, True),
        ({"model_type": "llama", "hidden_size": 98, "num_attention_heads": 6, "head_dim": 16}, True),
        ({"model_type": "qwen2", "hidden_size": 98, "num_attention_heads": 6, "num_key_value_heads": 6}, False),
        ({"model_type": "gpt2", "n_embd": 98, "n_head": 6}, True),
    ],
)
def test_as_transformers_builds(data: dict[str, Any], is_refused: bool) -> None:
    assert (refused_heads(read_config(data)) is not None) is is_refused


def test_what_was_built_is_not_refused() -> None:
    configs = [record["config"] for record in recorded("heads")]
    configs += [{"model_type": model_type} for model_type in index()["types"]]
    # The defaults of Aya Vision: 14 heads for a vision tower of 1152, which transformers 5.24 refuses to build.
    assert {config["model_type"] for config in configs if refused_heads(read_config(config))} == {"aya_vision"}
