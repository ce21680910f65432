from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas.documents.detect import detect
from neurarch_schemas.documents.json_document import JsonDocument
from tests.documents.samples import DECODER, NESTED, published

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def kind(name: str, text: str, listing: Any = None) -> str | None:
    return detect(name, JsonDocument.parse(text, name).data, listing, text)


FOREIGN: list[tuple[str, Any]] = [
    ("config.json", {"apiUrl": "https://example.com", "theme": "dark", "port": 8080}),
    ("config.json", {"port": 3000, "host": "localhost", "model_type": "sedan"}),
    ("config.json", {"architectures": ["x86_64", "arm64"], "name": "installer"}),
    ("config.json", {"type": "act", "n_obs_steps": 1, "input_features": {}, "output_features": {}, "dim_model": 512}),
    ("config.json", {"_class_name": "UNet2DConditionModel", "_diffusers_version": "0.30", "in_channels": 4}),
    ("config.json", {"_class_name": "AutoencoderKL", "architectures": ["AutoencoderKL"]}),
    ("config.json", {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}),
    ("config.json", {"in_features": 768, "out_features": 256, "bias": True, "activation_function": "Tanh"}),
    ("config.json", {"architecture": "resnet50", "num_classes": 1000, "pretrained_cfg": {"tag": "a1"}}),
    ("config.json", {"model": "gpt", "learning_rate": 3e-4, "batch_size": 32, "epochs": 10}),
    ("config.json", {"vocab_size": 50304, "n_layer": 12, "n_head": 12, "n_embd": 768, "learning_rate": 6e-4}),
    ("config.json", {"model_type": "xgboost", "max_depth": 6, "n_estimators": 100}),
    ("config.json", {"compilerOptions": {"strict": True}}),
    ("config.json", {"version": 1, "disable_existing_loggers": False, "handlers": {}}),
    ("config.json", {"default": {"database": "x"}}),
    ("config.json", [1, 2]),
    ("config.json", "text"),
    ("config.json", 5),
    ("config.json", {}),
    ("app.config.json", {"name": "x"}),
    ("package.json", {"name": "x", "version": "1.0.0", "architectures": ["LlamaForCausalLM"]}),
    ("tsconfig.json", {"compilerOptions": {}}),
    ("tokenizer_config.json", {"tokenizer_class": "X", "model_type": "llama", "auto_map": {"AutoTokenizer": []}}),
    ("preprocessor_config.json", {"image_processor_type": "CLIPImageProcessor"}),
    ("special_tokens_map.json", {"eos_token": "</s>"}),
    ("model_index.json", {"_class_name": "StableDiffusionPipeline"}),
    ("ds_config.json", {"train_batch_size": 8, "optimizer": {"type": "AdamW"}}),
    ("config_sentence_transformers.json", {"__version__": {"transformers": "4.40"}}),
    ("params.json", {"temperature": 0.7, "alpha": 1}),
    ("params.json", {"dim": 64, "n_layers": 2, "n_heads": 2, "learning_rate": 1e-3}),
    ("generation_config.json", {"scenes": 3, "seed": 1}),
    ("adapter_config.json", {"adapter": "usb", "speed": 100}),
    ("adapter_config.json", {"config": {"reduction_factor": 16}, "hidden_size": 768, "model_class": "BertModel"}),
    ("x.index.json", {"entries": []}),
    ("data.json", {"model_type": "llama"}),
]  # fmt: skip

OURS: list[tuple[str, Any, str]] = [
    ("config.json", DECODER, "config"),
    ("config.json", NESTED, "config"),
    ("llama.config.json", DECODER, "config"),
    ("config.json", {"model_type": "llama"}, "config"),
    ("config.json", {"architectures": ["BertModel"]}, "config"),
    ("config.json", {"auto_map": {"AutoConfig": "configuration_x.XConfig"}}, "config"),
    ("config.json", {"vocab_size": 50257, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_ctx": 1024}, "config"),
    ("config.json", {"model_type": "timesfm", "transformers_version": "4.50.0", "max_depth": 3}, "config"),
    ("params.json", {"dim": 4096, "n_layers": 32, "n_heads": 32, "norm_eps": 1e-5, "vocab_size": 32000}, "params"),
    ("generation_config.json", {"eos_token_id": 2, "transformers_version": "4.40.0"}, "generation_config"),
    ("generation_config.json", {"do_sample": True}, "generation_config"),
    ("adapter_config.json", {"peft_type": "LORA", "r": 8}, "adapter_config"),
    ("adapter_config.json", {"base_model_name_or_path": "x/y", "r": 8, "lora_alpha": 16}, "adapter_config"),
    ("model.safetensors.index.json", {"metadata": {}, "weight_map": {"a": "model-1.safetensors"}}, "index"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), FOREIGN)
def test_files_of_others_are_none_of_ours(name: str, value: Any) -> None:
    assert kind(name, json.dumps(value)) is None
    assert kind("some/folder/" + name, json.dumps(value, indent=2)) is None


@pytest.mark.parametrize(("name", "value", "expected"), OURS)
def test_our_files(name: str, value: Any, expected: str) -> None:
    assert kind(name, json.dumps(value)) == expected
    assert kind("C:\\models\\" + name, json.dumps(value)) == expected


@pytest.mark.parametrize(
    "text", ["<!DOCTYPE html><html></html>", "version https://git-lfs.github.com/spec/v1\noid", "oops"]
)
def test_a_file_that_is_not_json_at_all_is_what_its_name_says(text: str) -> None:
    assert kind("config.json", text) == "config"
    assert kind("generation_config.json", text) == "generation_config"
    assert kind("adapter_config.json", text) == "adapter_config"
    assert kind("package.json", text) is None
    assert kind("data.json", text) is None


def test_a_broken_file_with_recognisable_keys_is_ours() -> None:
    assert kind("config.json", '{"model_type": "llama", "hidden_size": ') == "config"
    assert kind("config.json", '"model_type": "llama", "hidden_size": 5}') == "config"
    assert kind("config.json", '{"apiUrl": "x", "theme": ') is None


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "{}", "{ }\n"])
def test_an_empty_config_is_ours_only_in_a_model_repository(text: str) -> None:
    assert kind("config.json", text) is None
    assert kind("config.json", text, ["index.html"]) is None
    assert kind("config.json", text, lambda: None) is None
    assert kind("config.json", text, ["model.safetensors"]) == "config"
    assert kind("config.json", text, lambda: {"tokenizer.json"}) == "config"


@pytest.mark.skipif(not published(), reason="the published configurations are not at hand")
def test_every_published_file_is_what_the_index_says() -> None:
    with (SHARED / "configs" / "INDEX.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    kinds = {"generation_config": "generation_config", "adapter": "adapter_config", "params.json": "params"}
    names = {
        "generation_config": "generation_config.json",
        "adapter_config": "adapter_config.json",
        "params": "params.json",
    }
    for row in rows:
        text = (SHARED / "configs" / row["file"]).read_text(encoding="utf-8")
        expected = kinds.get(row["kind"], "config")
        assert kind(names.get(expected, "config.json"), text) == expected, row["file"]


@pytest.mark.parametrize("cases", ["bugs.jsonl", "clean.jsonl"])
def test_every_case_is_what_its_name_says(cases: str) -> None:
    path = SHARED / "cases" / cases
    if not path.exists():
        pytest.skip("the cases are not at hand")
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["input_type"] == "json":
            assert kind(case["file_name"], case["input"]) == case["file_name"].removesuffix(".json"), case["id"]
