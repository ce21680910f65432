"""Networks that cannot exist are refused with the reason; where transformers reads sizes oddly, they are read so."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import rows


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ({"model_type": "mistral", "head_dim": 0}, "no heads"),
        ({"model_type": "llama", "num_key_value_heads": 0}, "no heads"),
        ({"model_type": "llama", "hidden_size": 16, "num_attention_heads": 32, "head_dim": None}, "heads of size 0"),
        ({"model_type": "swiftformer", "depths": [-1, 3, 6, 4]}, "negative"),
        ({"model_type": "beit", "patch_size": [16]}, "a number or a pair"),
        ({"model_type": "janus", "vq_config": {"num_res_blocks": 0}}, "residual blocks"),
    ],
)
def test_refused(written: dict[str, Any], reason: str) -> None:
    with pytest.raises(CannotBuild, match=reason):
        architectures.build(read_config(written))


def test_hunyuan_without_shared_experts_has_one_of_the_dense_width() -> None:
    sizes = {"hidden_size": 96, "intermediate_size": 208, "moe_intermediate_size": 56, "num_shared_experts": 0}
    tree = architectures.build(read_config({"model_type": "hy_v3", "num_hidden_layers": 2, **sizes}))
    assert {row.shape for row in rows(tree) if row.name.endswith("shared_experts.gate_proj.weight")} == {(208, 96)}


def test_moonshine_decodes_with_the_heads_of_its_encoder() -> None:
    """transformers 5.24: the decoder's own head counts change nothing, those of the encoder both halves."""

    def total(**written: Any) -> int:
        return count_parameters(architectures.build(read_config({"model_type": "moonshine", **written}))).total

    plain = total()
    assert total(decoder_num_key_value_heads=2, decoder_num_attention_heads=4) == plain
    hidden, spared, layers = 288, 144, 6
    key_and_value = 2 * hidden * spared
    assert plain - total(encoder_num_key_value_heads=4) == layers * key_and_value * 3
