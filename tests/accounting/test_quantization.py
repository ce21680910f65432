"""Layouts by hand, lists of names, and whole models whose published file sizes are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.checkpoint import predicted_checkpoint
from neurarch_schemas.accounting.quantization.names import Name, Names, canonical
from neurarch_schemas.accounting.quantization.plan import Plan, read_plan
from neurarch_schemas.accounting.quantization.predict import predict
from neurarch_schemas.accounting.quantization.schemes import Awq, EightBit, Gptq, PackedIntegers
from neurarch_schemas.config.read import read_config
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, children, stack

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def test_gptq_by_hand() -> None:
    qweight, qzeros, scales, group_index = Gptq("GPTQ", 4, 128).stored(11008, 4096)
    assert qweight == ("int32", 4096 // 8 * 11008)
    assert qzeros == ("int32", 32 * 11008 // 8)
    assert scales == ("float16", 32 * 11008)
    assert group_index == ("int32", 4096)


def test_awq_by_hand() -> None:
    assert Awq("AWQ", 4, 128).stored(1024, 4096) == (
        ("int32", 4096 * 128),
        ("int32", 32 * 128),
        ("float16", 32 * 1024),
    )


def test_blocks_round_up() -> None:
    assert EightBit("FP8", "float8_e4m3fn", "float32", "block", (128, 128)).stored(130, 128) == (
        ("float8_e4m3fn", 130 * 128),
        ("float32", 2),
    )


def test_packed_integers_store_their_shape() -> None:
    assert PackedIntegers("INT4", 4, 32).stored(64, 96) == (("int32", 64 * 12), ("bfloat16", 64 * 3), ("int64", 2))


@pytest.mark.parametrize(
    ("written", "name", "matches"),
    [
        ("lm_head", "lm_head", True),
        ("gate", "model.layers.{}.mlp.gate", True),
        ("gate", "model.layers.0.mlp.gate_proj", False),
        ("model.layers.1.self_attn", "model.layers.1.self_attn.q_proj", True),
        ("model.layers.1.self_attn", "model.layers.10.self_attn.q_proj", False),
        ("model.layers.*.self_attn", "model.layers.7.self_attn", True),
        ("re:.*self_attn.*", "model.layers.7.self_attn.o_proj", True),
        ("re:.*shared_experts.*", "model.layers.7.mlp.experts", False),
        ("language_model.model.layers.3.block_sparse_moe.experts.0.w1", "model.layers.3.mlp.experts", True),
        ("re:(", "anything", False),
    ],
)
def test_lists_of_names(written: str, name: str, matches: bool) -> None:
    assert Names.of([written]).match(Name(name, canonical(name))) is matches


def test_one_spelling() -> None:
    assert canonical("language_model.model.layers.0.ffn.experts.5.w2") == "layers.0.mlp.experts"


@pytest.mark.parametrize("fields", [{"quant_method": "hqq"}, {"quant_algo": "INT3_SECRET"}, {"bits": 8}])
def test_unknown_layouts_are_refused_with_a_reason(fields: dict[str, Any]) -> None:
    assert "not known" in str(read_plan(fields))


def test_head_stays_unless_told() -> None:
    plan = read_plan({"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": True})
    assert isinstance(plan, Plan)
    assert plan.head


def test_experts_of_one_layer_may_be_stored_in_two_ways() -> None:
    """What is said of an expert is not lost behind an earlier expert of which something else is said."""
    experts = "model.layers.3.block_sparse_moe.experts"
    listed: dict[str, JSONValue] = {f"{experts}.{index}.w1": {"quant_algo": "NVFP4"} for index in range(4)}
    listed |= {f"{experts}.{index}.w2": {"quant_algo": "FP8"} for index in range(4)}
    plan = read_plan({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": listed})
    assert isinstance(plan, Plan)
    assert [group.scheme.name for group in plan.groups] == ["NVFP4", "FP8, one scale a tensor"]
    assert all(group.targets.exact == {"layers.3.mlp.experts"} for group in plan.groups)


def test_layers_are_looked_up_by_their_own_index() -> None:
    found = []
    for layers in (["3"], ["3", "17"], ["17", "3"]):
        config = read_config(
            heron(
                quant_method="modelopt",
                quant_algo="MIXED_PRECISION",
                quantized_layers={
                    f"model.layers.{index}.self_attn.q_proj": {"quant_algo": "MXFP8"} for index in layers
                },
            )
        )
        checkpoint = predicted_checkpoint(architectures.build(config), config)
        assert checkpoint is not None
        found.append((checkpoint.scale_scalars, checkpoint.bytes))
    scales = 48 * 128 * 3072 // 32
    assert [each[0] for each in found] == [scales, 2 * scales, 2 * scales]
    assert found[0][1] is not None
    assert found[1][1] is not None
    assert found[0][1] - found[1][1] == 48 * 128 * 3072 - scales


def heron(**quantization: object) -> dict[str, Any]:
    written: dict[str, Any] = json.loads((EXAMPLES / "heron-moe-230b" / "config.json").read_text())
    return {**written, "quantization_config": quantization}


def test_fp8_blocks_tell_scales_apart() -> None:
    config = read_config(
        heron(quant_method="fp8", weight_block_size=[128, 128], modules_to_not_convert=["gate", "lm_head"])
    )
    found = predicted_checkpoint(architectures.build(config), config)
    assert found is not None
    assert not found.exact
    expert = 3 * (3072 // 128) * (1536 // 128)
    attention = (48 + 2 * 8 + 48) * 24
    assert found.scalars == 228_689_764_864 + 62 * (256 * expert + attention)
    assert f"{62 * (256 * expert + attention):,} scalars of scales" in str(found.reason)


def test_a_plain_model_has_no_prediction() -> None:
    config = read_config(json.loads((EXAMPLES / "heron-moe-230b" / "config.json").read_text()))
    assert predicted_checkpoint(architectures.build(config), config) is None


def test_mxfp4_experts_of_a_published_model() -> None:
    """gpt-oss-20b: the index of its published files states a total size of 13,761,264,768 bytes."""
    config = read_config(
        {
            "model_type": "gpt_oss",
            "architectures": ["GptOssForCausalLM"],
            "num_hidden_layers": 24,
            "num_local_experts": 32,
            "dtype": "bfloat16",
            "attention_bias": True,
            "quantization_config": {
                "quant_method": "mxfp4",
                "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"],
            },
        }
    )
    found = predicted_checkpoint(architectures.build(config), config)
    assert found is not None
    assert found.bytes == 13_761_264_768


def test_experts_listed_one_by_one_are_looked_up_once() -> None:
    """As modeling code of others lists them: 4,000 in each of 30 layers are more than are looked up one by one."""
    expert = Module("MLP", children=children(w1=linear(64, 32, bias=False), w2=linear(32, 64, bias=False)))
    mlp = Module("MoE", children=children(experts=stack(expert, times=4000)))
    tree = Module("Model", children=children(layers=stack(Module("Layer", children=children(mlp=mlp)), times=30)))
    plan = read_plan({"quant_method": "fp8", "weight_block_size": [32, 32], "modules_to_not_convert": ["layers.7.mlp"]})
    assert isinstance(plan, Plan)
    found = predict(tree, plan, "bfloat16")
    assert found is not None
    assert found.schemes == (("FP8 in blocks of 32x32", 29 * 4000 * 2),)
    assert found.scale_scalars == 29 * 4000 * 2 * 2
    assert found.bytes == 29 * 4000 * 2 * (64 * 32 + 2 * 4) + 4000 * 2 * 64 * 32 * 2
