"""From a document's values to a ModelConfig: names, origins, pointers, nested configs, scale and broken input."""

from __future__ import annotations

import json
import string
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.config.support import REAL_CONFIGS

from neurarch_schemas.catalogue.load import index, schema
from neurarch_schemas.config.read import read_config

QWEN2_VL_FLAT = {
    "model_type": "qwen2_vl",
    "hidden_size": 1536,
    "num_hidden_layers": 28,
    "vocab_size": 151936,
    "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
    "vision_config": {"model_type": "qwen2_vl", "hidden_size": 1536, "patch_size": 14},
}


def test_origins() -> None:
    config = read_config({"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8})
    width, heads, head = (config.setting(name) for name in ("hidden_size", "num_key_value_heads", "head_dim"))
    assert width is not None
    assert (width.origin, width.pointer) == ("written", "/hidden_size")
    assert heads is not None
    assert (heads.origin, heads.value, heads.source, heads.pointer) == ("derived", 8, "num_attention_heads", None)
    assert head is not None
    assert head.value == 64
    layers = config.setting("num_hidden_layers")
    assert layers is not None
    assert (layers.origin, layers.value) == ("defaulted", 32)


def test_synonyms_lead_to_the_canonical_key() -> None:
    config = read_config({"model_type": "gpt2", "hidden_size": 1024, "num_hidden_layers": 2})
    assert config.integer("n_embd") == config.integer("hidden_size") == 1024
    setting = config.setting("n_layer")
    assert setting is not None
    assert (setting.name, setting.pointer, setting.value) == ("n_layer", "/num_hidden_layers", 2)


def test_of_two_names_for_one_key_the_synonym_wins_and_the_conflict_is_kept() -> None:
    config = read_config({"model_type": "gpt2", "hidden_size": 1024, "n_embd": 512})
    assert config.integer("n_embd") == 1024
    (conflict,) = config.conflicts
    assert (conflict.name, {conflict.first, conflict.second}) == ("n_embd", {"/hidden_size", "/n_embd"})
    assert read_config({"model_type": "gpt2", "hidden_size": 512, "n_embd": 512}).conflicts == ()


def test_of_the_two_names_of_the_dtype_the_newer_wins() -> None:
    config = read_config({"model_type": "llama", "torch_dtype": "float16", "dtype": "bfloat16"})
    setting = config.setting("dtype")
    assert setting is not None
    assert (setting.value, setting.pointer) == ("bfloat16", "/dtype")
    assert [conflict.name for conflict in config.conflicts] == ["dtype"]


def test_a_value_the_class_replaces_is_kept_as_written() -> None:
    config = read_config({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False})
    assert config.get("sliding_window") is None
    assert config.overridden["sliding_window"].value == 4096
    assert config.overridden["sliding_window"].pointer == "/sliding_window"


@pytest.mark.parametrize("key", ["dtype", "torch_dtype"])
def test_both_names_of_the_dtype(key: str) -> None:
    setting = read_config({"model_type": "llama", key: "bfloat16"}).setting("dtype")
    assert setting is not None
    assert (setting.value, setting.pointer) == ("bfloat16", f"/{key}")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({}, {"rope_type": "default", "rope_theta": 10000.0}),
        ({"rope_theta": 5e5}, {"rope_type": "default", "rope_theta": 5e5}),
        ({"rope_scaling": None, "rope_theta": 5e5}, {"rope_type": "default", "rope_theta": 5e5}),
        (
            {"rope_scaling": {"type": "linear", "factor": 2.0}, "rope_theta": 1e6},
            {"type": "linear", "rope_type": "linear", "factor": 2.0, "rope_theta": 1e6},
        ),
        (
            {"rope_parameters": {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 3.0}, "rope_theta": 1e6},
            {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 3.0},
        ),
        (
            {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}, "max_position_embeddings": 4096},
            {
                "rope_type": "yarn",
                "factor": 4.0,
                "rope_theta": 10000.0,
                "original_max_position_embeddings": 4096,
            },
        ),
    ],
)
def test_every_spelling_of_rope(written: dict[str, Any], expected: dict[str, Any]) -> None:
    assert read_config({"model_type": "llama", **written}).mapping("rope_parameters") == expected


def test_rope_by_layer_type() -> None:
    config = read_config({"model_type": "gemma3_text", "rope_theta": 1e6, "rope_local_base_freq": 1e4})
    assert config.mapping("rope_parameters") == {
        "full_attention": {"rope_type": "default", "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }


def test_rotary_dim_is_a_share_of_the_head() -> None:
    config = read_config({"model_type": "minimax_m2", "rotary_dim": 64, "head_dim": 128})
    assert config.mapping("rope_parameters")["partial_rotary_factor"] == 0.5


def test_nested_configs_take_the_type_their_parent_gives_them() -> None:
    config = read_config(
        {
            "model_type": "minimax_m3_vl",
            "text_config": {"hidden_act": "swigluoai", "num_hidden_layers": 4, "moe_layer_freq": [0, 1, 1, 1]},
            "vision_config": {"model_type": "clip_vision_model", "hidden_size": 64},
        }
    )
    text, vision = config.nested_config("text_config"), config.nested_config("vision_config")
    assert (text.model_type, vision.model_type) == ("minimax_m3_vl_text", "minimax_m3_vl_vision")
    assert text.strings("mlp_layer_types") == ("dense", "sparse", "sparse", "sparse")
    assert text.overridden["hidden_act"].value == "swigluoai"
    layers = text.setting("num_hidden_layers")
    assert layers is not None
    assert layers.pointer == "/text_config/num_hidden_layers"


def test_nested_configs_that_name_their_type() -> None:
    config = read_config({"model_type": "llava", "text_config": {"model_type": "mistral"}})
    assert config.nested_config("text_config").model_type == "mistral"
    assert config.nested_config("vision_config").model_type == "clip_vision_model"
    assert config.nested_config("vision_config").integer("hidden_size") == 1024


def test_the_older_flat_layout_of_a_composite_config() -> None:
    text = read_config(QWEN2_VL_FLAT).nested_config("text_config")
    width = text.setting("hidden_size")
    assert width is not None
    assert (width.value, width.pointer) == (1536, "/hidden_size")
    assert text.mapping("rope_parameters")["rope_type"] == "default"


def test_a_native_type_stays_native_with_remote_code() -> None:
    assert read_config({"model_type": "llama", "auto_map": {"AutoModel": "modeling.Model"}}).is_native


def test_an_unknown_type_keeps_what_is_written() -> None:
    config = read_config(
        {"model_type": "my-model", "width": 3, "rope_theta": 1.0, "text_config": {"model_type": "llama"}}
    )
    assert (config.is_native, config.integer("width"), config.model_type) == (False, 3, "my-model")
    assert config.nested_config("text_config").integer("hidden_size") == 4096


def test_the_type_is_inferred_from_an_unambiguous_class() -> None:
    assert read_config({"architectures": ["Qwen3ForCausalLM"]}).model_type == "qwen3"
    assert read_config({"architectures": ["SomethingElse"]}).is_native is False


@pytest.mark.parametrize("count", [10**9, 10**30])
@pytest.mark.parametrize(
    "model_type",
    [
        "llama",
        "gemma2",
        "gemma3_text",
        "gemma4_text",
        "qwen2",
        "qwen3_next",
        "llama4_text",
        "smollm3",
        "jamba",
        "lfm2",
        "minimax",
        "deepseek_v32",
        "gpt_oss",
        "exaone4",
        "olmo3",
        "cohere2",
        "kimi_linear",
        "glm_moe_dsa",
        "dots3_note_text",
        "step3p5",
        "vit",
        "beit",
        "zamba",
        "olmo_hybrid",
        "neomme",
    ],
)
def test_work_does_not_grow_with_the_number_of_layers(model_type: str, count: int) -> None:
    read_config({"model_type": model_type})
    start = time.perf_counter()
    config = read_config({"model_type": model_type, "num_hidden_layers": count})
    assert time.perf_counter() - start < 0.05
    pattern = config.patterns.get("layer_types")
    assert pattern is None or pattern.length == count


def test_written_layer_counts_replace_default_lists() -> None:
    config = read_config({"model_type": "gemma3_text", "num_hidden_layers": 8, "sliding_window_pattern": 4})
    assert config.strings("layer_types") == (*["sliding_attention"] * 3, "full_attention") * 2
    setting = config.setting("layer_types")
    assert setting is not None
    assert setting.origin == "derived"


def test_sizes_that_differ_between_layers() -> None:
    config = read_config({"model_type": "gemma4_text", "num_hidden_layers": 6, "global_head_dim": 512, "head_dim": 256})
    assert list(config.layers("head_dim")) == [256] * 5 + [512]
    written = {"model_type": "llama", "num_hidden_layers": 3, "per_layer_config": {"1": {"intermediate_size": 64}}}
    assert list(read_config(written).layers("intermediate_size")) == [11008, 64, 11008]


@pytest.mark.parametrize("written_first", ["num_labels", "id2label"])
def test_a_written_number_of_labels_beats_their_names(written_first: str) -> None:
    labels = {"num_labels": 4, "id2label": {"0": "text", "1": "title", "2": "table"}}
    written = {written_first: labels[written_first], **labels}
    prior = read_config({"model_type": "pp_doclayout_v4", **written}).number("initializer_bias_prior_prob")
    assert prior == pytest.approx(1 / 5)  # what transformers 5.24 gives in either order


def test_params_of_meta_and_mistral() -> None:
    meta = {"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "multiple_of": 1024, "ffn_dim_multiplier": 1.3}
    llama = read_config({**meta, "vocab_size": 128256, "norm_eps": 1e-5, "rope_theta": 5e5}, kind="params")
    assert (llama.model_type, llama.integer("intermediate_size"), llama.integer("head_dim")) == ("llama", 14336, 128)
    width = llama.setting("hidden_size")
    assert width is not None
    assert width.pointer == "/dim"
    mistral = {"dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32, "n_kv_heads": 8}
    assert read_config(mistral, kind="params").model_type == "mistral"
    mixtral = read_config({**mistral, "moe": {"num_experts": 8, "num_experts_per_tok": 2}}, kind="params")
    assert (mixtral.model_type, mixtral.integer("num_local_experts")) == ("mixtral", 8)
    other = read_config({**mistral, "vision_encoder": {}}, kind="params")
    assert other.is_native is False


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats()
    | st.text(string.ascii_letters, max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(string.ascii_letters, max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
TYPES = sorted(index()["types"])


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_value_for_any_key_is_survived(data: st.DataObject) -> None:
    model_type = data.draw(st.sampled_from(TYPES))
    record = schema(model_type)
    assert record is not None
    keys = [
        *record["properties"],
        *record.get("x-synonyms", ()),
        *record.get("x-keywords", ()),
        "rope_scaling",
        "rope_theta",
    ]
    written = {key: data.draw(JSON) for key in data.draw(st.lists(st.sampled_from(keys), max_size=6))}
    config = read_config({"model_type": model_type, **written})
    for key in written:
        assert key in config.settings or config.synonyms.get(key, key) in config.settings or config.nested


@settings(max_examples=300, deadline=None)
@given(JSON)
def test_any_document_is_survived(data: Any) -> None:
    read_config(data)
    read_config(data, kind="params")
    if isinstance(data, dict):
        read_config({**data, "architectures": data, "model_type": "gemma3"})


@pytest.mark.skipif(not REAL_CONFIGS.is_dir(), reason="published configs are not part of the repository")
def test_published_configs_are_read_fast() -> None:
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(REAL_CONFIGS.glob("*.json"))]
    for document in documents:
        read_config(document)
    start = time.process_time()
    for document in documents:
        read_config(document)
    assert (time.process_time() - start) / len(documents) < 0.0006
