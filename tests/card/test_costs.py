"""What a card says of training and serving: numbers by hand, and sentences that an expert may read twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neurarch_lsp.card.assumptions import Assumptions
from neurarch_lsp.card.build import build_card
from neurarch_lsp.card.caching import cached_scalars
from neurarch_lsp.card.sections.serving import weights_of_a_token
from neurarch_lsp.card.similar import catalogue
from neurarch_lsp.render.card_text import card_text
from neurarch_lsp.render.model_numbers import tokens
from neurarch_rules.engine.analyse import analyse_text
from neurarch_schemas.analysis import Analysis


def published(name: str) -> Analysis:
    found = next(known for known in catalogue() if known.name == name).analysis()
    assert found is not None
    return found


def config(**settings: Any) -> Analysis:
    found = analyse_text("m/config.json", json.dumps(settings))
    assert found is not None
    return found


def text(analysis: Analysis, assumed: Assumptions | None = None) -> str:
    return " ".join(card_text(build_card("m/config.json", analysis, (), assumed)).split())


def training(analysis: Analysis, assumed: Assumptions) -> dict[str, Any]:
    section = build_card("m/config.json", analysis, (), assumed).section("training")
    assert section is not None
    return dict(section.data)


LLAMA = "meta-llama/Meta-Llama-3.1-8B"
T5 = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]}


def test_time_of_a_whole_run_is_told_in_device_hours_and_on_the_devices_that_hold_it() -> None:
    """16 x 8.03e9 bytes of state and 2 x 4096 x 32 bytes a token, 131,072 tokens: 7.9 + 68.7 GB on each of 16."""
    found = training(published(LLAMA), Assumptions())
    assert found["fewest_gpus"] == 16
    shown = text(published(LLAMA))
    hours = found["seconds"] / 3600
    assert f"{hours:,.0f} hours of one H100-80GB at 100% of its bfloat16 peak" in shown
    assert "16 x H100-80GB hold it with FSDP, the fewest" in shown
    assert "65.5B tokens; every sequence is as long as the declared context" in shown


def test_a_length_that_was_asked_for_is_not_called_the_default() -> None:
    assert "as long as the declared context" not in text(published(LLAMA), Assumptions(length=131072))


def test_a_sequence_too_long_for_one_device_is_said_to_be() -> None:
    scout = published("RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic")
    assert training(scout, Assumptions())["fewest_gpus"] is None
    assert "no number of H100-80GB holds it with FSDP alone" in text(scout)


def test_ranks_beyond_the_batch_hold_a_whole_sequence_each() -> None:
    few = training(published(LLAMA), Assumptions(length=4096, training_batch=8, data_parallel=64))
    ways = {way["way"]: way["bytes_on_each"] for way in few["spread"]}
    assert ways["ZeRO 3 (FSDP) over 64"] == pytest.approx(
        16 * 8_030_261_248 / 64 + few["checkpointed_activation_bytes"] / 8, abs=64
    )


def test_logits_in_float32_are_told() -> None:
    """4 s b v bytes (Korthikanti et al. 2022, section 4.3)."""
    size = 4 * 4096 * 2 * 128256
    assert f"{size / 1e9:.3g} GB more in float32" in text(published(LLAMA), Assumptions(length=4096, training_batch=2))


def test_an_encoder_of_undeclared_length_is_assumed_as_long_as_the_sequence() -> None:
    """T5-small: 6 layers of 8 heads of 64 keep keys and values of both sides."""
    analysis = config(**T5)
    token = 6 * 2 * 8 * 64
    assert cached_scalars(analysis, Assumptions())(1000) == 2 * 1000 * token
    assert cached_scalars(analysis, Assumptions(source_length=512))(1000) == (1000 + 512) * token
    assert "as many tokens as the decoder are assumed" in text(analysis)
    assert "512 tokens are assumed" in text(analysis, Assumptions(source_length=512))
    whisper = published("openai/whisper-large-v3-turbo")
    assert whisper.kv_cache is not None
    assert cached_scalars(whisper, Assumptions())(448) == whisper.kv_cache.at(448)


def test_decoding_reads_quantized_experts_and_plain_attention_as_they_are_stored() -> None:
    """gpt-oss-20b: 12.0 of 13.8 GB are experts of 4.25 bits (and their biases); the embedding is looked up."""
    analysis = config(
        model_type="gpt_oss",
        architectures=["GptOssForCausalLM"],
        num_hidden_layers=24,
        num_local_experts=32,
        dtype="bfloat16",
        attention_bias=True,
        quantization_config={
            "quant_method": "mxfp4",
            "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"],
        },
    )
    others, routed = weights_of_a_token(analysis, 13_761_264_768, 0)
    experts = 24 * 32 * 3 * 2880 * 2880 * 17 // 32
    biases = 24 * 32 * (2 * 2880 + 2880) * 2
    assert routed == experts + biases
    assert others == 13_761_264_768 - routed - 2 * 201_088 * 2880


def test_a_network_without_a_cache_has_no_longest_context() -> None:
    shown = text(published("google/vit-base-patch16-224-in21k"))
    assert "longest context there" not in shown
    assert "For the weights, split evenly" in shown
    assert "FLOP in attention" not in text(published("AntonV/mamba2-130m-hf"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(65536, "64k"), (131072, "128k"), (1 << 20, "1M"), (1_163_264, "1.1M"), (10_485_760, "10M"), (200_000, "200,000")],
)
def test_lengths_as_people_say_them(value: int, shown: str) -> None:
    assert tokens(value) == shown


def test_a_cache_is_told_before_and_behind_its_windows() -> None:
    """Mistral 7B keeps 4,096 tokens in all layers; MiMo-V2-Flash all in 9 of 48 layers of 4 heads of 192 and 128."""
    assert "From 4,096 on nothing more, since windows are full" in text(published("mistralai/Mistral-7B-v0.1"))
    mimo = text(published("XiaomiMiMo/MiMo-V2-Flash"))
    assert 9 * 4 * (192 + 128) * 2 == 22.5 * 1024
    assert "Per token 217.5 KiB in bfloat16: High From 129 on 22.5 KiB per token: Low" in mimo
    assert "since windows are full" not in text(published("microsoft/Phi-3-mini-128k-instruct"))


def test_towers_are_not_read_for_a_token_however_they_are_stored() -> None:
    quantized = {"quant_method": "awq", "bits": 4, "group_size": 128}
    vision = published("Qwen/Qwen2.5-VL-7B-Instruct").document.data
    assert isinstance(vision, dict)
    analysis = config(**{**vision, "quantization_config": quantized})
    found, counted = analysis.checkpoint, analysis.parameters
    assert found is not None
    assert found.bytes is not None
    assert counted is not None
    others, routed = weights_of_a_token(analysis, found.bytes, sum(dict(counted.by_part)[part] for part in ("vision",)))
    parts = dict(found.part_bytes)
    assert routed == 0
    assert others == found.bytes - parts["vision"] - parts["embedding"] - parts.get("projector", 0)
