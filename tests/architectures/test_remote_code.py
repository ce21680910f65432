"""Models that bring their own code: tensors and totals as published, or as others who read that code build them.

`remote_code.jsonl` holds tensors that mlx-lm and optimum-habana built from configs, `remote_code_totals.jsonl` counts,
each with its source.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import rows
from tests.architectures.conftest import DATA


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


TOTALS = lines("remote_code_totals.jsonl")
TENSORS = lines("remote_code.jsonl")


def total(**wanted: Any) -> dict[str, Any]:
    """The config of the first model whose settings include ``wanted``."""
    configs: list[dict[str, Any]] = [record["config"] for record in TOTALS]
    return next(config for config in configs if wanted.items() <= config.items())


@pytest.mark.parametrize("record", TOTALS, ids=lambda record: record["source"].rsplit("/", 1)[-1])
def test_totals(record: dict[str, Any]) -> None:
    count = count_parameters(architectures.build(read_config(record["config"])))
    assert (count.total, count.buffers) == (record["parameters"], record["buffers"])


@pytest.mark.parametrize("record", TENSORS, ids=lambda record: record["config"]["model_type"])
def test_tensors(record: dict[str, Any]) -> None:
    expected = Counter({(name, tuple(shape)): count for name, shape, count in record["tensors"]})
    assert Counter({(row.name, row.shape): row.count for row in rows(built(record["config"]))}) == expected


def built(written: dict[str, Any]) -> Any:
    return architectures.build(read_config(written))


def test_first_release_of_qwen_names_its_sizes_otherwise() -> None:
    later = total(model_type="qwen", hidden_size=4096)
    first = {"hidden_size": "n_embd", "intermediate_size": "ffn_hidden_size", "num_hidden_layers": "n_layer"}
    renamed = {first.get(key, "n_head" if key == "num_attention_heads" else key): later[key] for key in later}
    assert count_parameters(built(renamed)).total == 7_721_324_544


@pytest.mark.parametrize(
    ("written", "scalars_per_token"),
    [
        (total(model_type="xverse"), 32 * 2 * 4096),
        (total(model_type="chatglm", num_layers=28), 28 * 2 * 2 * 128),
        (total(model_type="chatglm", num_layers=28) | {"multi_query_attention": False}, 28 * 2 * 4096),
        # Keys and values for every head, whatever the config says of groups.
        (total(model_type="internlm") | {"num_key_value_heads": 8}, 60 * 2 * 5120),
        # The prediction layer keeps nothing while single tokens are generated.
        (total(model_type="mimo"), 36 * 2 * 8 * 128),
        (total(model_type="kimi_k2"), 61 * 576),
        (total(model_type="kimi_k3"), 24 * 576),
        (total(model_type="llava_mistral"), 32 * 2 * 8 * 128),
        (total(model_type="multi_modality"), 24 * 2 * 2048),
        (total(model_type="phi3_v"), 32 * 2 * 3072),
        (total(model_type="internvl_chat"), 24 * 2 * 2 * 64),
    ],
)
def test_cache(written: dict[str, Any], scalars_per_token: int) -> None:
    cache = kv_cache(built(written))
    assert cache is not None
    assert cache.per_token == scalars_per_token


K3: dict[str, Any] = total(model_type="kimi_k3")["text_config"]
NEMOTRON: dict[str, Any] = next(
    record["config"] for record in TENSORS if record["config"]["model_type"] == "nemotron-nas"
)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (total(model_type="minicpm") | {"num_experts": 8}, "experts of MiniCPM"),
        (total(model_type="internlm2") | {"architectures": ["InternLM2ForTokenClassification"]}, "no published total"),
        (total(model_type="internlm") | {"architectures": ["InternLMForSequenceClassification"]}, "no published total"),
        (total(model_type="chatglm") | {"pre_seq_len": 128}, "prefix encoder"),
        (total(model_type="molmo") | {"attention_layer_norm": True}, "attention_layer_norm"),
        (total(model_type="minicpmv") | {"version": 2.0}, "version of MiniCPM-V"),
        (total(model_type="deepseek_vl_v2") | {"architectures": ["DeepseekOCRForCausalLM"]}, "DeepseekOCRForCausalLM"),
        (total(model_type="internvl_chat") | {"use_llm_lora": 16}, "adapters inside"),
        (total(model_type="bailing_moe") | {"num_nextn_predict_layers": 1}, "prediction layers"),
        (total(model_type="llava_llama") | {"architectures": ["LlavaLlamaModel"]}, "LlavaLlamaModel"),
        (total(model_type="llava_llama") | {"mm_projector_type": "mlp_downsample"}, "mlp_downsample"),
        (total(model_type="llava_llama") | {"mm_vision_tower": "google/siglip-so400m-patch14-384"}, "image encoder"),
        (total(model_type="multi_modality") | {"vision_config": {"cls": "HybridVisionTower"}}, "CLIPVisionTower"),
        (total(model_type="nanbeige") | {"num_loops": 2}, "several times"),
        (total(model_type="kimi_k3") | {"text_config": K3 | {"num_nextn_predict_layers": 1}}, "prediction layers"),
        (total(model_type="kimi_k3") | {"text_config": K3 | {"linear_attn_config": {"kda_layers": 3}}}, "kda_layers"),
        (NEMOTRON | {"num_hidden_layers": 80}, "disagree"),
        (NEMOTRON | {"block_configs": [{"attention": {"window_length": 1024}}] * 24}, "window_length"),
    ],
)
def test_what_no_source_confirms_is_refused(written: dict[str, Any], reason: str) -> None:
    with pytest.raises(CannotBuild, match=reason):
        built(written)


def test_overrides_by_layer_are_refused_where_a_family_does_not_follow_them() -> None:
    written: dict[str, Any] = {"model_type": "llama", "per_layer_config": {"3": {"num_key_value_heads": 1}}}
    with pytest.raises(CannotBuild, match="vary by layer"):
        built(written)
