"""Counts are called exact only where transformers 5.24 has a class of the head that ``architectures`` names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neurarch_rules.engine.analyse import analyse_text
from neurarch_schemas import architectures
from neurarch_schemas.architectures.classes import absent_class
from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config

from .conftest import recorded


def is_exact(written: dict[str, Any]) -> bool:
    analysis = analyse_text("/absent/config.json", json.dumps(written))
    assert analysis is not None
    return analysis.built.tree is not None and analysis.doubt is None


@pytest.mark.parametrize(
    ("model_type", "name", "exact"),
    [
        ("gemma2", "Gemma2ForCausalLM", True),
        ("gemma2", "Gemma2ForQuestionAnswering", False),
        ("roberta", "RobertaForPreTraining", False),
        ("llama", "LlamaForCausalLMEagle3", False),
        ("llama", "LlamaForQuestionAnswering", True),
        ("gpt2", "GPT2LMHeadModel", True),
        # The auto class of the head finds these, as for published files.
        ("bloom", "BloomModelForCausalLM", True),
        ("phimoe", "PhiMoEForCausalLM", True),
        ("kimi_k25", "KimiK25ForConditionalGeneration", True),
        ("llava", "LlavaLlamaForCausalLM", True),
        # Parts and bases that are no models of the whole config.
        ("bros", "BrosSpadeEEForTokenClassification", False),
        ("sam_vision_model", "SamVisionEncoder", False),
        ("radio", "RadioEncoder", False),
        ("seamless_m4t", "SeamlessM4TTextToUnitModel", False),
        ("mllama", "MllamaVisionModel", False),
    ],
)
def test_class(model_type: str, name: str, exact: bool) -> None:
    assert is_exact({"model_type": model_type, "architectures": [name]}) is exact


def test_sizes_of_another_library_are_no_exact_count() -> None:
    """liuhaotian/llava-v1.5-13b says llava, but its sizes stand where transformers does not read them."""
    written = {"model_type": "llava", "architectures": ["LlavaLlamaForCausalLM"]}
    assert is_exact({**written, "hidden_size": 4096})
    assert not is_exact({**written, "hidden_size": 5120})
    assert is_exact({**written, "hidden_size": 5120, "text_config": {"hidden_size": 4096}})


def test_sizes_under_a_key_that_is_not_read_are_no_exact_count() -> None:
    """Qwen3-ASR was published with its sizes in thinker_config, which transformers' own class does not read."""
    written = {"model_type": "qwen3_asr", "architectures": ["Qwen3ASRForConditionalGeneration"]}
    unread = {"thinker_config": {"text_config": {"hidden_size": 1024}}}
    assert is_exact(written)
    assert not is_exact({**written, **unread})
    assert is_exact({**written, **unread, "text_config": {"hidden_size": 1024}})


def test_the_reason_names_the_class() -> None:
    reason = absent_class(read_config({"model_type": "gemma2", "architectures": ["Gemma2ForQuestionAnswering"]}))
    assert reason == "transformers 5.24 has no Gemma2ForQuestionAnswering, and no other class of gemma2 with that head"


def test_classes_that_were_built_are_there() -> None:
    assert all(
        absent_class(read_config(record["config"])) is None
        for name in ("heads", "parameters")
        for record in recorded(name)
    )


@pytest.mark.parametrize("model_type", sorted(architectures.families()))
def test_made_up_heads_are_never_exact(model_type: str) -> None:
    record = config_type(model_type)
    if record is None:
        return
    for head in ("ForCausalLMEagle3", "ForReranking", "ValueHead"):
        config = read_config({"model_type": model_type, "architectures": [f"Mystery{head}"]})
        if absent_class(config) is None:
            with pytest.raises(CannotBuild):
                architectures.build(config)
