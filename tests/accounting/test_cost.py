"""Cost formulas against published figures."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.activations import (
    boundary_scalars_per_token,
    scalars_per_token,
    score_bytes_per_pair,
)
from neurarch_schemas.accounting.fit import fit, usable
from neurarch_schemas.accounting.hardware import Device, devices, find_device
from neurarch_schemas.accounting.lora import four_bit_bytes, lora_parameters
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.accounting.roofline import bound, compute_dtype
from neurarch_schemas.accounting.training import Sharding, find_recipe, recipes, training_flops, training_memory
from neurarch_schemas.config.read import read_config

GIB = 1 << 30


def gpt(hidden: int, layers: int, heads: int) -> dict[str, object]:
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "n_embd": hidden,
        "n_layer": layers,
        "n_head": heads,
        "n_positions": 2048,
        "vocab_size": 51200,
    }


def test_activations_of_a_gpt_layer_are_the_published_32_h() -> None:
    """Korthikanti et al. 2022, equation 1: s b h (34 + 5 a s / h) bytes a layer, of which 2 h are dropout masks."""
    one, two = (architectures.build(read_config(gpt(6144, layers, 64))) for layers in (1, 2))
    assert 2 * (scalars_per_token(two) - scalars_per_token(one)) == 32 * 6144
    assert score_bytes_per_pair(two) - score_bytes_per_pair(one) == 5 * 64
    assert boundary_scalars_per_token(two) - boundary_scalars_per_token(one) == 6144


def test_zero_figures() -> None:
    """Rajbhandari et al. 2020, figure 1: 7.5B parameters, 64 ranks: 120, 31.4, 16.6 and 1.9 GB."""
    recipe = find_recipe("adam-mixed")
    assert recipe is not None
    sizes = [
        training_memory(7_500_000_000, recipe, 0, sharding=Sharding(data_parallel=64, zero=stage)).total / 1e9
        for stage in range(4)
    ]
    assert sizes == pytest.approx([120, 31.4, 16.6, 1.9], rel=0.015)


def test_scores_outweigh_the_rest_as_published() -> None:
    """Korthikanti et al. 2022, section 5: 5 a s / h is 80 for GPT-3 175B and 64 for MT-NLG 530B, at 2,048 tokens."""
    for hidden, heads, ratio in ((12288, 96, 80), (20480, 128, 64)):
        one, two = (architectures.build(read_config(gpt(hidden, layers, heads))) for layers in (1, 2))
        pairs = score_bytes_per_pair(two) - score_bytes_per_pair(one)
        assert pairs * 2048 == ratio * hidden


ZERO_TABLE = {
    4: ((52.5, 41.3, 30), (896, 704, 512), (7000, 5500, 4000)),
    16: ((35.6, 21.6, 7.5), (608, 368, 128), (4750, 2875, 1000)),
    64: ((31.4, 16.6, 1.88), (536, 284, 32), (4187, 2218, 250)),
    256: ((30.4, 15.4, 0.47), (518, 263, 8), (4046, 2054, 62.5)),
    1024: ((30.1, 15.1, 0.12), (513, 257, 2), (4011, 2013, 15.6)),
}
"""Rajbhandari et al. 2020, table 1: GB on each device for 7.5B, 128B and 1T parameters, ZeRO 1 to 3, by ranks."""


@pytest.mark.parametrize("ranks", ZERO_TABLE)
def test_zero_table(ranks: int) -> None:
    recipe = find_recipe("adam-mixed")
    assert recipe is not None
    for parameters, printed in zip((7_500_000_000, 128 * 10**9, 10**12), ZERO_TABLE[ranks], strict=True):
        derived = [
            training_memory(parameters, recipe, 0, sharding=Sharding(ranks, zero=stage)).total / 1e9
            for stage in (1, 2, 3)
        ]
        assert derived == pytest.approx(printed, rel=0.005, abs=0.005)


def test_qlora_against_its_paper() -> None:
    """Dettmers et al. 2023, abstract and section 1: 16-bit finetuning of LLaMA 65B takes more than 780 GB (2 + 2 + 8
    bytes a parameter), QLoRA less than 48 GB."""
    tree = architectures.build(
        read_config(
            {
                "model_type": "llama",
                "architectures": ["LlamaForCausalLM"],
                "hidden_size": 8192,
                "intermediate_size": 22016,
                "num_hidden_layers": 80,
                "num_attention_heads": 64,
                "vocab_size": 32000,
            }
        )
    )
    parameters = count_parameters(tree).total
    assert 12 * parameters / 1e9 == pytest.approx(780, rel=0.005)
    recipe = find_recipe("adam-mixed")
    assert recipe is not None
    adapter = lora_parameters(tree, 64)
    memory = training_memory(parameters, recipe, 0, trained=adapter, frozen_bytes=four_bit_bytes(tree))
    assert 33e9 < four_bit_bytes(tree) < 36e9
    assert memory.total < 48e9


def test_adam_takes_16_bytes_a_parameter() -> None:
    assert {recipe.name: recipe.bytes_per_parameter for recipe in recipes()} == {
        "adam-fp32": 16,
        "adam-mixed": 16,
        "adam-8bit": 10,
        "adam-bf16": 8,
    }


def test_a_frozen_base_costs_its_weights_only() -> None:
    recipe = find_recipe("adam-mixed")
    assert recipe is not None
    memory = training_memory(10**9, recipe, 0, trained=10**6, frozen_bytes=5 * 10**8)
    assert memory.total == 16 * 10**6 + 5 * 10**8


def test_training_is_three_forward_passes() -> None:
    assert training_flops(100) == 300
    assert training_flops(100, checkpointing=True) == 400


DEVICE = Device("test", "nobody", 80 * GIB, 1e12, {"bfloat16": 1e15}, None, "")


def test_fit_finds_the_smallest_number_of_devices() -> None:
    found = fit(DEVICE, 140 * GIB, lambda tokens: tokens * (1 << 20), context=8192)
    assert found.devices == 4
    assert not found.fits_on_one
    assert found.longest_context == (usable(DEVICE, 4) - 140 * GIB) // (1 << 20)
    assert found.largest_batch == (usable(DEVICE, 4) - 140 * GIB) // (8 * GIB)


def test_a_model_too_large_for_a_cluster_is_said_so() -> None:
    assert fit(DEVICE, 10**18, lambda _: 0, context=1).devices is None


def test_decoding_is_bound_by_memory_and_prefill_by_compute() -> None:
    assert bound(DEVICE, 2 * 7 * 10**9, 14 * 10**9, "bfloat16").limit == "memory bandwidth"
    assert bound(DEVICE, 2 * 7 * 10**9 * 8192, 14 * 10**9, "bfloat16").limit == "compute"


@pytest.mark.parametrize(
    ("quantization", "dtype"),
    [
        (None, "bfloat16"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "float8_e4m3fn"),
        ({"quant_method": "compressed-tensors", "format": "float-quantized"}, "float8_e4m3fn"),
        ({"quant_method": "compressed-tensors", "format": "int-quantized"}, "int8"),
        ({"quant_method": "compressed-tensors", "format": "pack-quantized"}, "bfloat16"),
        ({"quant_method": "modelopt", "quantized_layers": {"a": {"quant_algo": "NVFP4"}}}, "float4_e2m1fn_x2"),
        ({"quant_method": "awq", "bits": 4}, "bfloat16"),
        ({"quant_method": "mxfp4"}, "bfloat16"),  # gpt-oss: activations stay in bfloat16
        ({"quant_method": "modelopt", "quant_algo": "W4A16_NVFP4"}, "bfloat16"),
        (
            {"format": "nvfp4-pack-quantized", "config_groups": {"g": {"weights": {}, "input_activations": None}}},
            "bfloat16",
        ),
        (
            {"format": "nvfp4-pack-quantized", "config_groups": {"g": {"input_activations": {"num_bits": 4}}}},
            "float4_e2m1fn_x2",
        ),
    ],
)
def test_a_bound_is_taken_at_the_narrowest_type_of_the_matrices(quantization: Any, dtype: str) -> None:
    assert compute_dtype(quantization) == dtype


def test_a_device_without_a_type_computes_in_16_bits() -> None:
    hopper = find_device("H100-80GB")
    assert hopper is not None
    assert hopper.computes("float8_e4m3fn") == "float8_e4m3fn"
    assert hopper.computes("float4_e2m1fn_x2") == "bfloat16"
    assert hopper.peak("float4_e2m1fn_x2") == hopper.peak("bfloat16") < hopper.peak("float8_e4m3fn")
    turing = find_device("T4")
    assert turing is not None
    assert turing.computes("float8_e4m3fn") == "float16"


def test_every_device_states_its_source() -> None:
    assert len(devices()) == 32
    for device in devices():
        assert device.source
        assert device.memory_bytes > 10 * GIB
        assert device.peak("float8_e4m3fn") >= device.peak("float32") / 2
    assert find_device("nvidia-nothing") is None
    found = find_device("h100 80gb")
    assert found is not None
    assert found.name == "H100-80GB"
