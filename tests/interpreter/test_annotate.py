"""Attention, caches, embedding and head are stated where the structure shows them, and not otherwise."""

from __future__ import annotations

import pytest

from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.interpreter import interpret
from neurarch_schemas.modules.tree import Module, walk

TEXT = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads, causal=True):
        super().__init__()
        self.num_heads = heads
        self.num_kv_heads = kv_heads
        self.head_dim = width // heads
        self.q_proj = nn.Linear(width, heads * self.head_dim)
        self.k_proj = nn.Linear(width, kv_heads * self.head_dim)
        self.v_proj = nn.Linear(width, kv_heads * self.head_dim)
        self.o_proj = nn.Linear(width, width)

    def forward(self, x):
        return F.scaled_dot_product_attention(x, x, x, is_causal=True)


class GPT(nn.Module):
    def __init__(self, width=32, heads=4, kv_heads=2, depth=3, vocabulary=100):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(16, width)
        self.blocks = nn.ModuleList([Attention(width, heads, kv_heads) for _ in range(depth)])
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""


def tree_of(text: str, expression: str = "GPT()") -> Module:
    result = interpret(text, expression, path="model.py")
    assert result.exact, result.reason
    assert result.tree is not None
    return result.tree


def per_token(text: str) -> int | None:
    cache = kv_cache(tree_of(text))
    return None if cache is None else cache.per_token


def test_keys_and_values_of_each_layer() -> None:
    assert per_token(TEXT) == 3 * 2 * (2 * 8)
    shapes = {visit.module.attention for visit in walk(tree_of(TEXT))} - {None}
    assert [(shape.heads, shape.kv_heads, shape.qk_dim) for shape in shapes if shape] == [(4, 2, 8)]


@pytest.mark.parametrize("name", ["cache", "layer_cache", "kv_cache", "past_key_value"])
def test_a_cache_handed_to_the_forward_shows_that_it_decodes(name: str) -> None:
    plain = "def forward(self, x):\n        return F.scaled_dot_product_attention(x, x, x, is_causal=True)"
    cached = f"def forward(self, x, {name}=None):\n        return F.scaled_dot_product_attention(x, x, x)"
    assert per_token(TEXT.replace(plain, cached)) == 3 * 2 * (2 * 8)
    assert per_token(TEXT.replace(plain, cached.replace(f", {name}=None", ""))) is None


def test_parts() -> None:
    parts = {visit.path: (visit.part, visit.module.lookup) for visit in walk(tree_of(TEXT))}
    assert parts["wte"] == ("embedding", True)
    assert parts["wpe"] == ("position", True)
    assert parts["lm_head"] == ("head", False)
    assert parts["blocks.{}.q_proj"][0] == "attention"


def test_fused_projection() -> None:
    old = TEXT[TEXT.index("        self.q_proj") : TEXT.index("        self.o_proj")]
    fused = TEXT.replace(old, "        self.c_attn = nn.Linear(width, (heads + 2 * kv_heads) * self.head_dim)\n")
    assert per_token(fused) == 3 * 2 * (2 * 8)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is_causal=True", "is_causal=False"),
        ("self.head_dim = width // heads", "self.head_dim = 5 + 0 * width; size = 8"),
        ("def forward(self, x):\n        return F", "def forward(self, x, window_mask=None):\n        return F"),
        ("for block in self.blocks:\n            x = block(x)", "for _ in range(4):\n            x = self.shared(x)"),
        ("self.num_kv_heads = kv_heads", "self.num_kv_heads = 4"),
        ("self.num_kv_heads = kv_heads", "self.chunk_size = 8"),
        ("self.num_kv_heads = kv_heads", "self.sliding_window = (8, 8)"),
        ("self.num_kv_heads = kv_heads", "self.is_causal = False"),
        ("self.num_kv_heads = kv_heads", "self.A_log = nn.Parameter(torch.ones(3))"),
    ],
)
def test_nothing_is_said_where_something_is_open(old: str, new: str) -> None:
    assert old in TEXT
    changed = TEXT.replace(old, new)
    if "; size = 8" in new:
        changed = changed.replace("heads * self.head_dim", "heads * size")
    assert per_token(changed) is None


def test_one_open_layer_keeps_the_whole_tree_silent() -> None:
    odd = TEXT.replace(
        "        self.lm_head",
        "        self.blocks[0].window_size = 4\n        self.lm_head",
    )
    assert per_token(odd) is None


def test_a_window_that_is_an_attribute_of_the_layer() -> None:
    windowed = TEXT.replace("self.num_kv_heads = kv_heads", "self.sliding_window = 8")
    cache = kv_cache(tree_of(windowed))
    assert cache is not None
    assert cache.per_token == 3 * 2 * (2 * 8)
    assert cache.at(100) == 8 * 3 * 2 * (2 * 8)
    assert kv_cache(tree_of(TEXT)).at(100) == 100 * 3 * 2 * (2 * 8)  # type: ignore[union-attr]


CONFIGURED = (
    TEXT.replace(
        "    def __init__(self, width, heads, kv_heads, causal=True):", "    def __init__(self, config, layer_idx):"
    )
    .replace(
        "        self.num_heads = heads\n        self.num_kv_heads = kv_heads\n",
        "        self.config = config\n        self.layer_idx = layer_idx\n"
        "        width, heads, kv_heads = config.width, config.n_head, config.n_kv_heads\n",
    )
    .replace("Attention(width, heads, kv_heads) for _ in", "Attention(config, number) for number in")
    .replace("width=32, heads=4, kv_heads=2, depth=3, vocabulary=100", "config=None, width=32, depth=3, vocabulary=100")
    .replace(
        "class GPT(",
        "class Config:\n    width = 32\n\n    def __init__(self, **k):\n"
        "        self.width, self.n_head, self.n_kv_heads = 32, 4, 2\n        self.__dict__.update(k)\n\n\nclass GPT(",
    )
)


def test_heads_that_the_class_reads_from_its_configuration() -> None:
    assert per_token(CONFIGURED.replace("config=None", "config=Config()")) == 3 * 2 * (2 * 8)


def test_layer_types_tell_which_layers_have_a_window() -> None:
    text = CONFIGURED.replace(
        "config=None", "config=Config(sliding_window=4, layer_types=['sliding_attention'] * 2 + ['full_attention'])"
    ).replace("is_causal=True", "is_causal=True, window=self.config.sliding_window")
    cache = kv_cache(tree_of(text))
    assert cache is not None
    assert sorted((entry.kind, entry.window, layers) for entry, layers in cache.entries) == [
        ("full", None, 1),
        ("sliding", 4, 2),
    ]


LATENT = """
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, heads=4, rank=12):
        super().__init__()
        self.num_heads = heads
        self.kv_lora_rank, self.qk_rope_head_dim, self.qk_nope_head_dim, self.v_head_dim = rank, 4, 8, 6
        self.q_proj = nn.Linear(32, heads * 12)
        self.kv_a_proj_with_mqa = nn.Linear(32, rank + 4)
        self.kv_a_layernorm = nn.LayerNorm(rank)
        self.kv_b_proj = nn.Linear(rank, heads * 14)
        self.o_proj = nn.Linear(heads * 6, 32)

    def forward(self, x, past_key_value=None):
        return x


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Attention() for _ in range(5)])
"""


def test_a_latent_and_one_rotary_key() -> None:
    cache = kv_cache(tree_of(LATENT))
    assert cache is not None
    assert cache.per_token == 5 * (12 + 4)
    assert cache.per_token_expanded == 5 * 4 * (8 + 4 + 6)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("heads * 14)", "heads * 15)"),
        ("nn.Linear(32, rank + 4)", "nn.Linear(32, rank + 5)"),
        ("nn.Linear(rank, heads", "nn.Linear(rank + 1, heads"),
        ("self.q_proj", "self.indexer = None; self.q_proj"),
    ],
)
def test_a_latent_whose_sizes_disagree_is_not_stated(old: str, new: str) -> None:
    assert old in LATENT
    assert kv_cache(tree_of(LATENT.replace(old, new))) is None
