"""What the head says of published models."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_lsp.card.build import build_card
from neurarch_lsp.card.similar import catalogue
from neurarch_lsp.render.card_text import card_text


def head(name: str) -> dict[str, Any]:
    found = next(known for known in catalogue() if known.name == name).analysis()
    assert found is not None
    section = build_card(f"{name}/config.json", found).section("head")
    assert section is not None
    return dict(section.data)


def text_of(name: str) -> str:
    found = next(known for known in catalogue() if known.name == name).analysis()
    assert found is not None
    return card_text(build_card(f"{name}/config.json", found))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "nvidia/MiniMax-M3-NVFP4",
            {
                "attention": "GQA 64:4 (sparse and full) with QK-Norm and partial RoPE",
                "layers": "3 GQA + 57 sparse GQA; 3 dense + 57 sparse MoE",
                "qk_norm": "per head",
            },
        ),
        (
            "deepseek-ai/DeepSeek-V3",
            {
                "attention": "MLA, 128 heads over a latent of 512 + 64 rotary",
                "layers": "61 MLA; 3 dense + 58 sparse MoE",
                "positions": "RoPE, theta 10,000, yarn x40",
            },
        ),
        (
            "Qwen/Qwen3.5-27B",
            {"layers": "48 linear attention + 16 GQA (3 linear : 1 full)", "norm": "RMSNorm, pre-norm, eps 1e-06"},
        ),
        (
            "openai/gpt-oss-20b",
            {
                "attention": "GQA 64:8 (sliding and full) with attention sinks",
                "layers": "12 sliding GQA + 12 GQA (1 sliding : 1 full); 24 sparse MoE",
                "qk_norm": None,
            },
        ),
        (
            "google/gemma-3-4b-it",
            {
                "layers": "29 sliding GQA + 5 GQA (5 sliding : 1 full)",
                "norm": "RMSNorm, norms before and after, eps 1e-06",
                "positions": "RoPE, full: theta 1,000,000, linear x8; sliding: theta 10,000",
                "tied_embeddings": True,
            },
        ),
        ("AntonV/mamba2-130m-hf", {"layers": "24 state space", "attention": "none", "positions": None}),
        ("openai/whisper-large-v3-turbo", {"layers": "4 MHA with cross-attention", "norm": "LayerNorm, pre-norm"}),
        (
            "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
            # MEMEM*EMEMEM*E...: no ratio of mixers holds throughout; feed-forward layers take no turns with them.
            {"layers": "23 state space + 6 GQA; 23 sparse MoE", "positions": "none (NoPE)", "activation": "relu2"},
        ),
        ("LiquidAI/LFM2.5-VL-1.6B", {"layers": "10 convolution + 6 GQA"}),
        (
            "moonshotai/Kimi-Linear-48B-A3B-Instruct",
            {
                "attention": "MLA, 32 heads over a latent of 512 + 64 rotary",
                "layers": "20 linear attention + 7 MLA (3 linear : 1 full); 1 dense + 26 sparse MoE",
                "positions": "none (NoPE)",
            },
        ),
        (
            "meta-llama/Llama-3.2-11B-Vision-Instruct",
            {"layers": "32 GQA + 8 cross-attention (4 full : 1 cross-attention)"},
        ),
        (
            "RedHatAI/Llama-4-Maverick-FP8.ome",
            {"layers": "36 chunked GQA + 12 GQA (3 chunked : 1 full); 24 dense + 24 sparse MoE"},
        ),
        (
            "togethercomputer/RedPajama-INCITE-7B-Base",
            {"attention": "MHA, 32 heads", "positions": "RoPE, theta 10,000"},
        ),
        ("baichuan-inc/Baichuan2-7B", {"positions": "RoPE"}),
        ("albert/albert-base-v1", {"layers": "1 MHA, run 12 times"}),
        ("mistralai/Mistral-7B-v0.1", {"windows": [4096]}),
        ("google/gemma-7b", {"attention": "MHA, 16 heads"}),
        ("hiyouga/PaliGemma-3B-Chat-v0.1", {"attention": "MQA 8:1"}),
        (
            "BAAI/bge-large-en",
            {"layers": "24 MHA", "norm": "LayerNorm, post-norm, eps 1e-12", "tied_embeddings": None},
        ),
    ],
)
def test_labels_of_published_models(name: str, expected: dict[str, Any]) -> None:
    found = head(name)
    assert {key: found[key] for key in expected} == expected


def test_both_readings_of_active_are_told() -> None:
    """DeepSeek-V3 is published as "37B activated"; its input embedding of 0.93B is in one reading and not the other."""
    card = text_of("deepseek-ai/DeepSeek-V3")
    assert "671B total, 36.6B active (5.5 %)" in card
    assert "36,625,603,584 a token; 37.6B with the input embedding" in card


def test_a_window_as_long_as_the_context_is_said_to_be() -> None:
    assert "262,144 tokens (no shorter than the context)" in text_of("microsoft/Phi-3-mini-128k-instruct")


def test_what_sparse_attention_attends_to_is_told() -> None:
    assert "Selection the best 2,048 keys Experts" in " ".join(text_of("deepseek-ai/DeepSeek-V3.2").split())
    pro = " ".join(text_of("deepseek-ai/DeepSeek-V4-Pro").split())
    assert "all entries of 128 tokens each, and the last 128 tokens" in pro
    assert "the best 1,024 entries of 4 tokens each, and the last 128 tokens" in pro
