"""The rows of the structure: blocks in the order a token passes them, towers, shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neurarch_lsp.card.assumptions import Assumptions
from neurarch_lsp.card.sections.parts import layer_runs
from neurarch_lsp.card.sections.structure import in_words, section
from neurarch_lsp.card.similar import catalogue
from neurarch_lsp.card.structure import rows
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


MOE = "MoE 512, top 10 + shared"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "meta-llama/Llama-3.2-1B",
            "token ids -> Embedding -> RoPE -> 16 x (norm -> GQA 32:8 -> add -> norm -> feed-forward -> add) -> norm"
            " -> LM head -> logits",
        ),
        (
            "BAAI/bge-large-en",
            "token ids -> Embedding -> 24 x (MHA -> add -> norm -> feed-forward -> add -> norm) -> Pooler"
            " -> pooled output",
        ),
        (
            "openai/whisper-large-v3-turbo",
            "audio features -> Conv1d -> Conv1d -> Embedding -> 32 x (norm -> MHA -> add -> norm -> feed-forward"
            " -> add) -> norm -> token ids -> Embedding -> position embedding -> 4 x (norm -> MHA -> add -> norm"
            " -> cross MHA -> add -> norm -> feed-forward -> add) -> norm -> LM head -> logits",
        ),
        (
            "google/vit-base-patch16-224-in21k",
            "pixels -> Embedding -> 12 x (norm -> MHA -> add -> norm -> feed-forward -> add) -> norm -> Pooler"
            " -> pooled output",
        ),
        (
            "EleutherAI/gpt-neox-20b",
            "token ids -> Embedding -> RoPE -> 44 x (norm -> MHA -> norm -> feed-forward -> add) -> norm -> LM head"
            " -> logits",
        ),
        (
            "allenai/OLMo-2-1124-7B",
            "token ids -> Embedding -> RoPE -> 32 x (MHA -> add -> norm -> feed-forward -> add -> norm) -> norm"
            " -> LM head -> logits",
        ),
    ],
)
def test_blocks_stand_in_the_order_of_the_residual_stream(name: str, words: str) -> None:
    assert in_words(rows(published(name))) == words


def test_a_cycle_of_layers_is_folded_within_and_without() -> None:
    found = rows(published("google/gemma-3-4b-it"))
    assert "5 x (5 x (norm -> sliding GQA 8:4" in in_words(found)
    assert {row.times for row in found if row.group is not None and row.tower is None} == {25, 5, 4}


def test_every_row_is_accounted_for_in_all_published_models() -> None:
    for known in catalogue():
        found = known.analysis()
        if found is not None and found.parameters is not None:
            assert sum(row.parameters * row.times for row in rows(found)) == found.parameters.total, known.name


def test_cache_of_the_rows_adds_up_to_that_of_the_card_in_all_published_models() -> None:
    """What does not grow with the sequence (cross attention, states) stands in no row."""
    for known in catalogue():
        found = known.analysis()
        if found is not None and found.kv_cache is not None and found.built.tree is not None:
            assert sum(row.cache_per_token * row.times for row in rows(found)) == found.kv_cache.per_token, known.name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic", "feed-forward -> add) -> norm -> PixelShuffle"),
        ("THUDM/GLM-4.1V-9B", "pixels -> PatchEmbedding -> norm -> Embeddings -> 24 x ("),
        ("THUDM/GLM-4.1V-9B", "add) -> norm -> Conv2d -> PatchMerger -> token ids"),
        ("Qwen/Qwen3-ASR-0.6B", "audio features -> Conv2d -> Conv2d -> Conv2d -> Linear -> 24 x ("),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "TilePosition -> norm -> 32 x ("),
    ],
)
def test_towers_run_in_the_order_of_their_forward_pass(name: str, words: str) -> None:
    assert words in in_words(rows(published(name)))


def test_towers_have_their_own_length_and_projectors_the_width_of_the_text() -> None:
    part = section(published("google/gemma-3-4b-it"), Assumptions(context=2048))
    assert part is not None
    shapes = {row["name"]: row["shape"] for row in part.data["rows"]}
    assert shapes["model.vision_tower.embeddings"] == [1, 4096, 1152]
    assert shapes["model.multi_modal_projector"] == [1, None, 2560]
    assert shapes["model.language_model.norm"] == [1, 2048, 2560]
    assert shapes["vision input"] == shapes["rotary_emb"] == []


def test_a_merger_leaves_fewer_positions_and_a_table_of_rows_and_columns_tells_no_length() -> None:
    merged = section(published("THUDM/GLM-4.1V-9B"), Assumptions(context=2048))
    grid = section(published("moonshotai/Kimi-K2.5"), Assumptions(context=2048))
    assert merged is not None
    assert grid is not None
    assert {row["name"]: row["shape"] for row in merged.data["rows"]}["model.visual.merger"] == [1, None, 4096]
    assert all(row["shape"][1:2] in ([], [None], [2048]) for row in grid.data["rows"])


def test_a_classifier_is_no_language_model_head() -> None:
    found = rows(
        config(
            model_type="llama",
            architectures=["LlamaForSequenceClassification"],
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            vocab_size=100,
        )
    )
    assert [row.type for row in found[-2:]] == ["classifier", "logits"]


def test_an_encoder_decoder_is_read_encoder_first_and_each_side_from_its_own_tokens() -> None:
    assert in_words(rows(published("facebook/bart-large"))) == (
        "token ids -> Embedding -> position embedding -> norm -> "
        "12 x (MHA -> add -> norm -> feed-forward -> add -> norm) -> "
        "token ids -> Embedding -> position embedding -> norm -> "
        "12 x (MHA -> add -> norm -> cross MHA -> add -> norm -> feed-forward -> add -> norm) -> hidden states"
    )


def test_norms_of_t5_stand_before_the_blocks_they_are_registered_behind() -> None:
    found = in_words(rows(config(model_type="t5", architectures=["T5ForConditionalGeneration"])))
    assert "token ids -> Embedding -> norm -> MHA -> add -> norm -> feed-forward -> add -> 5 x (" in found
    assert "norm -> MHA -> add -> norm -> cross MHA -> add -> norm -> feed-forward -> add" in found


def test_conformer_layers_of_gemma_4_stand_as_they_run() -> None:
    found = in_words(rows(published("google/gemma-4-E2B-it")))
    assert "12 x (FeedForward -> norm -> MHA -> norm -> LightConvolution -> FeedForward -> norm)" in found


def test_layers_of_one_kind_stand_together_with_their_number() -> None:
    found = published("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16").built.tree
    assert found is not None
    assert [(where, kind, times) for where, kind, _, times in layer_runs(found)] == [
        ("model.layers 0-50", "state space", 23),
        ("model.layers 1-51", "MoE + shared expert", 23),
        ("model.layers 5-42", "GQA 32:2", 6),
    ]


def test_the_one_layer_of_albert_is_opened() -> None:
    found = rows(published("albert/albert-base-v1"))
    assert "Linear -> MHA -> add -> norm -> feed-forward -> add -> norm -> MaskedLMHead" in in_words(found)
    assert sum(row.parameters * row.times for row in found) == 11_221_680
