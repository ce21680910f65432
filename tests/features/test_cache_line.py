"""The KV cache in the hover of a class: per token with windows and latents, or why it is not stated."""

from __future__ import annotations

import pytest

from neurarch_lsp.features import python_outline
from neurarch_lsp.features.python_models import ClassModel
from neurarch_schemas.modules.attention import latent_cache
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Run, Stack

SHAPE = AttentionShape(4, 2, 8, 8)


def attention(*caches: Cache, shape: AttentionShape | None = SHAPE) -> Module:
    leaf = Module("Linear")
    return Module("Attention", children=(("q_proj", leaf),), part="attention", attention=shape, caches=caches)


def hover(*runs: tuple[Module, int]) -> str:
    stack = Stack(tuple(Run((module,), times) for module, times in runs))
    tree = Module("GPT", children=(("layers", stack),))
    model = ClassModel("GPT", (6, 9), "GPT()", tree, True, None)
    found = python_outline.hover([model], "class GPT:", 7)
    assert found is not None
    return found.plain()


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        ([(attention(Cache("full", 32)), 4)], "KV cache: 256 bytes per token at 2 bytes a scalar."),
        (
            [(attention(Cache("full", 32)), 2), (attention(Cache("sliding", 32, window=4096)), 2)],
            "KV cache: 256 bytes per token at 2 bytes a scalar; 2 layers keep 4,096 tokens.",
        ),
        (
            [(attention(latent_cache(12, 4, 4, 8, 6)), 2)],
            "KV cache: 64 bytes per token at 2 bytes a scalar (the latent; 288 bytes where keys and values are kept",
        ),
        ([(attention(shape=None), 2)], "KV cache: not stated, since it does not show what Attention keeps."),
        ([(attention(), 2)], "KV cache: not stated, since some layers keep a state that does not show."),
    ],
)
def test_line(runs: list[tuple[Module, int]], line: str) -> None:
    assert line in hover(*runs)


def test_an_encoder_keeps_nothing() -> None:
    assert "KV cache" not in hover((attention(shape=SHAPE._replace(kind="encoder", causal=False)), 2))
