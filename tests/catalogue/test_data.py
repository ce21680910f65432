"""The recorded facts: complete, valid JSON Schema, small, quick to read, and free of anything but facts."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from neurarch_schemas.catalogue import load
from neurarch_schemas.catalogue.load import config_type, enumerations, index, schema
from neurarch_schemas.config.check_types import accepts
from neurarch_schemas.documents.json_value import JSONValue

DATA = Path(load.DATA)
TYPES = tuple(index()["types"])


@pytest.mark.parametrize("name", TYPES)
def test_plain_types_are_a_quick_yes(name: str) -> None:
    record = config_type(name)
    assert record is not None
    assert record.plain_types
    samples: tuple[JSONValue, ...] = (None, True, 3, 0.5, "text", [1, "a"], {"a": 1})
    for key, types in record.plain_types.items():
        schema = record.properties[record.canonical(key)]
        assert {type(sample) for sample in samples if accepts(schema, sample)} == types


def test_every_model_type_is_there() -> None:
    assert len(TYPES) == 822
    assert all(config_type(name) is not None for name in TYPES)
    assert config_type("no_such_type") is None
    assert config_type("../_base") is None


def test_every_file_is_a_json_schema() -> None:
    paths = [*sorted((Path(DATA) / "types").glob("*.json")), Path(DATA) / "_base.json"]
    assert len(paths) > 822
    shapes: dict[str, object] = {}
    for number, path in enumerate(paths):
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data["$id"] == path.name
        for entry in data["properties"].values():
            shape = {keyword: value for keyword, value in entry.items() if keyword not in ("default", "x-declared")}
            shapes[json.dumps(shape, sort_keys=True)] = shape
        if number % 60 == 0:
            Draft202012Validator.check_schema(data)
    Draft202012Validator.check_schema({"$defs": shapes})


def test_defaults_have_the_type_they_declare() -> None:
    from neurarch_schemas.config.check_types import accepts

    wrong = []
    for name in TYPES:
        record = config_type(name)
        assert record is not None
        for key, value in record.resolved.items():
            if key in record.declared and key not in record.nested and not accepts(record.properties[key], value):
                wrong.append((name, key, value))
    # transformers does not check what these classes set themselves.
    assert {key for _, key, _ in wrong} <= {
        "initializer_range",
        "num_hidden_layers",
        "feat_proj_dropout",
        "intermediate_size",
    }


def test_nested_types_exist() -> None:
    # Named by transformers, but not among its model types.
    unknown = {"donut_swin", "rf_detr_vit"}
    for name in TYPES:
        record = config_type(name)
        assert record is not None
        for key, nested in record.nested.items():
            known = config_type(nested.record or nested.model_type)
            assert known is not None or nested.model_type in unknown, (name, key)


def test_facts_about_some_types() -> None:
    llama, gpt2, m3 = (config_type(name) for name in ("llama", "gpt2", "minimax_m3_vl"))
    assert llama is not None
    assert (llama.config_class, llama.architecture, llama.module) == ("LlamaConfig", "LlamaForCausalLM", "llama")
    assert llama.declared["head_dim"] is None
    assert llama.resolved["head_dim"] == 128
    assert gpt2 is not None
    assert gpt2.canonical("hidden_size") == "n_embd"
    assert gpt2.knows("hidden_size")
    assert m3 is not None
    assert not m3.nested["text_config"].any_type
    assert m3.nested["text_config"].model_type == "minimax_m3_vl_text"


def test_enumerations() -> None:
    names = enumerations()
    assert {"silu", "gelu_pytorch_tanh", "relu2"} <= set(names["activations"])
    assert {"default", "yarn", "llama3", "longrope"} <= set(names["rope_types"])
    assert {"bfloat16", "float8_e4m3fn"} <= set(names["dtypes"])
    assert {"gptq", "awq", "fp8", "compressed-tensors"} <= set(names["quantization_methods"])
    assert {"sdpa", "eager", "flash_attention_2"} <= set(names["attention_implementations"])


def test_size_on_disk() -> None:
    total = sum(path.stat().st_size for path in Path(DATA).rglob("*.json"))
    assert total < 2_500_000


def test_no_prose() -> None:
    """Descriptions would be somebody else's sentences."""
    for name in TYPES:
        data = schema(name)
        assert data is not None
        assert "description" not in data
        assert all("description" not in entry for entry in data["properties"].values())


@pytest.mark.parametrize("name", ["llama", "dots3_note_text", "gemma3"])
def test_one_file_is_read_in_less_than_a_millisecond(name: str) -> None:
    best = min(_seconds(name) for _ in range(20))
    assert best < 0.001


def _seconds(name: str) -> float:
    schema.cache_clear()
    config_type.cache_clear()
    start = time.perf_counter()
    config_type(name)
    return time.perf_counter() - start
