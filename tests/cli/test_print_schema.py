"""Printed schemas are sound, self-contained and accept what the type accepts."""

from __future__ import annotations

import json

import jsonschema
import pytest

from neurarch_lsp.__main__ import main
from neurarch_lsp.cli.print_schema import schema

TYPES = ("llama", "mixtral", "deepseek_v3", "qwen2_vl", "llava", "gpt2", "minimax_m3_vl", "mamba2", "t5")


@pytest.mark.parametrize("model_type", TYPES)
def test_the_schema_is_sound(model_type: str) -> None:
    built = schema(model_type)
    assert built is not None
    jsonschema.Draft202012Validator.check_schema(built)
    validator = jsonschema.Draft202012Validator(built)
    assert not list(validator.iter_errors({"model_type": model_type, "unknown": 1}))
    assert list(validator.iter_errors({"model_type": "another"}))


def test_wrong_types_are_found_also_in_nested_configs_and_under_synonyms() -> None:
    built = schema("qwen2_vl")
    assert built is not None
    validator = jsonschema.Draft202012Validator(built)
    assert list(validator.iter_errors({"text_config": {"hidden_size": "wide"}}))
    built = schema("mixtral")
    assert built is not None
    assert list(jsonschema.Draft202012Validator(built).iter_errors({"num_experts": "many"}))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-schema", "llama"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "LlamaConfig"
    assert main(["--print-schema", "no-such-type"]) == 2
