"""Cost formulas against published figures."""

from __future__ import annotations

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.activations import (
    boundary_scalars_per_token,
    scalars_per_token,
    score_bytes_per_pair,
)
from neurarch_schemas.accounting.fit import fit, usable
from neurarch_schemas.accounting.hardware import Device, devices, find_device
from neurarch_schemas.accounting.roofline import bound
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
