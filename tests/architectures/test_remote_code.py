"""Models that bring their own code: exact where published totals confirm the reading, else only their caches."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config


def qwen(hidden: int, inner: int, layers: int, heads: int, vocabulary: int) -> dict[str, Any]:
    return {
        "model_type": "qwen",
        "architectures": ["QWenLMHeadModel"],
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "kv_channels": 128,
        "vocab_size": vocabulary,
        "no_bias": True,
        "tie_word_embeddings": False,
    }


def baichuan(hidden: int, inner: int, layers: int, heads: int) -> dict[str, Any]:
    return {
        "model_type": "baichuan",
        "architectures": ["BaichuanForCausalLM"],
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "vocab_size": 125696,
        "tie_word_embeddings": False,
    }


def internlm2(hidden: int, inner: int, layers: int, heads: int) -> dict[str, Any]:
    return {
        "model_type": "internlm2",
        "architectures": ["InternLM2ForCausalLM"],
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": 8,
        "vocab_size": 92544,
        "bias": False,
        "tie_word_embeddings": False,
    }


@pytest.mark.parametrize(
    ("written", "published"),
    [
        (qwen(2048, 11008, 24, 16, 151936), 1_836_828_672),
        (qwen(4096, 22016, 32, 32, 151936), 7_721_324_544),
        (qwen(5120, 27392, 40, 40, 152064), 14_167_290_880),
        (qwen(8192, 49152, 80, 64, 152064), 72_287_920_128),
        (baichuan(4096, 11008, 32, 32), 7_505_973_248),
        (baichuan(5120, 13696, 40, 40), 13_896_668_160),
        (internlm2(4096, 14336, 32, 32), 7_737_708_544),
        (internlm2(6144, 16384, 48, 48), 19_861_149_696),
    ],
)
def test_published_totals(written: dict[str, Any], published: int) -> None:
    assert count_parameters(architectures.build(read_config(written))).total == published


def test_first_release_of_qwen_names_its_sizes_otherwise() -> None:
    later = qwen(4096, 22016, 32, 32, 151936)
    first = {"hidden_size": "n_embd", "intermediate_size": "ffn_hidden_size", "num_hidden_layers": "n_layer"}
    renamed = {first.get(key, "n_head" if key == "num_attention_heads" else key): later[key] for key in later}
    assert count_parameters(architectures.build(read_config(renamed))).total == 7_721_324_544


CHATGLM = {"hidden_size": 4096, "num_attention_heads": 32, "num_layers": 28, "kv_channels": 128}
ATTENTION = {"n_heads_in_group": 8, "no_op": False}


@pytest.mark.parametrize(
    ("written", "scalars_per_token"),
    [
        (
            {"model_type": "xverse", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32},
            32 * 2 * 4096,
        ),
        (
            {
                "model_type": "chatglm",
                "multi_query_attention": True,
                "multi_query_group_num": 2,
                **CHATGLM,
            },
            28 * 2 * 2 * 128,
        ),
        ({"model_type": "chatglm", "multi_query_attention": False, **CHATGLM}, 28 * 2 * 4096),
        (
            {
                "model_type": "nemotron-nas",
                "hidden_size": 8192,
                "num_attention_heads": 64,
                "block_configs": [{"attention": ATTENTION}, {"attention": {"no_op": True}}, {"attention": ATTENTION}],
            },
            2 * 2 * 8 * 128,
        ),
    ],
)
def test_unconfirmed_tensors_still_have_a_cache(written: dict[str, Any], scalars_per_token: int) -> None:
    with pytest.raises(CannotBuild, match="no published total") as caught:
        architectures.build(read_config(written))
    assert caught.value.caching is not None
    cache = kv_cache(caught.value.caching)
    assert cache is not None
    assert cache.per_token == scalars_per_token


def test_an_unknown_kind_of_attention_gives_no_cache() -> None:
    written: dict[str, Any] = {
        "model_type": "nemotron-nas",
        "hidden_size": 8192,
        "num_attention_heads": 64,
        "block_configs": [{"attention": {**ATTENTION, "window_length": 1024}}],
    }
    with pytest.raises(CannotBuild) as caught:
        architectures.build(read_config(written))
    assert caught.value.caching is None


def test_another_head_of_a_confirmed_model_is_not_confirmed() -> None:
    written = internlm2(4096, 14336, 32, 32) | {"architectures": ["InternLM2ForRewardModel"]}
    with pytest.raises(CannotBuild, match="InternLM2ForRewardModel") as caught:
        architectures.build(read_config(written))
    assert caught.value.caching is not None


def test_overrides_by_layer_are_refused_where_a_family_does_not_follow_them() -> None:
    written: dict[str, Any] = {"model_type": "llama", "per_layer_config": {"3": {"num_key_value_heads": 1}}}
    with pytest.raises(CannotBuild, match="vary by layer"):
        architectures.build(read_config(written))
