"""What the head says of published models."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_lsp.card.build import build_card
from neurarch_lsp.card.similar import catalogue


def head(name: str) -> dict[str, Any]:
    found = next(known for known in catalogue() if known.name == name).analysis()
    assert found is not None
    section = build_card(f"{name}/config.json", found).section("head")
    assert section is not None
    return dict(section.data)


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
                "attention": "MLA, 128 heads over a latent of 576",
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
            "BAAI/bge-large-en",
            {"layers": "24 MHA", "norm": "LayerNorm, post-norm, eps 1e-12", "tied_embeddings": None},
        ),
    ],
)
def test_labels_of_published_models(name: str, expected: dict[str, Any]) -> None:
    found = head(name)
    assert {key: found[key] for key in expected} == expected
