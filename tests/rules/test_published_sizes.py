"""The table of published models: what it holds, and that no published model is taken for another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run
from neurarch_rules.facts import published
from neurarch_rules.facts.decoder import innermost_decoder
from neurarch_rules.facts.published import Published, Sizes, measured, with_layers
from neurarch_rules.rules import published_size_changed
from tests.rules import corpus
from tests.rules.test_recorded_configs import recorded

PROFILES = Path(__file__).parents[2] / "server" / "neurarch_lsp" / "card" / "profiles.json"
MOST_ALIKE = 0.02
"""Share of published geometries that one value tells from another one of their family (Yi-6B and ALLaM-7B)."""


def lines() -> list[Published]:
    return list(published.everything())


def findings(text: str, name: str = "config.json") -> list[Finding]:
    analysis = analyse_text(name, text)
    if analysis is None:
        return []
    return list(run(analysis, Options(), rules=[published_size_changed]).findings)


def test_the_table_is_in_order_and_says_everything_once() -> None:
    entries = lines()
    keys = [(entry.sizes, entry.type) for entry in entries]
    assert len(keys) == len(set(keys)) > 700
    assert [sizes for sizes, _ in keys] == sorted(sizes for sizes, _ in keys)
    assert all(entry.name.count("/") == 1 and entry.type for entry in entries)


def test_the_models_of_the_card_are_in_the_table() -> None:
    """Two views of one catalogue: tools/record_published.py reads the card's profiles."""
    missing = []
    for profile in json.loads(PROFILES.read_text(encoding="utf-8")):
        analysis = analyse_text("config.json", json.dumps(profile["settings"]))
        assert analysis is not None
        if analysis.config is None:
            continue
        found = measured(innermost_decoder(analysis.config), analysis.config)
        if found is None or not {"layers", "hidden_size", "heads", "vocab_size"} <= found.written:
            continue
        sizes = found.sizes
        if sizes.layers < 4 or sizes.hidden_size < 1024:
            continue
        if not any(same(entry.sizes, sizes) for entry in with_layers(sizes.layers)):
            missing.append(profile["name"])
    assert missing == []


def same(a: Sizes, b: Sizes) -> bool:
    return a._replace(vocab_size=0) == b._replace(vocab_size=0) and a.has_vocabulary_of(b)


def test_few_published_models_are_one_size_from_another() -> None:
    """How often a model that the table does not know would be taken for a changed one that it knows."""
    entries = lines()
    alike = []
    for entry in entries:
        for other in with_layers(entry.sizes.layers):
            a, b = entry.sizes, other.sizes
            apart = [size for size in published_size_changed.ATTENTION if getattr(a, size) != getattr(b, size)]
            if (
                other.type == entry.type
                and len(apart) == 1
                and same(a._replace(**{apart[0]: 0}), b._replace(**{apart[0]: 0}))
            ):
                alike.append(entry.name)
                break
    assert 0 < len(alike) < MOST_ALIKE * len(entries), alike


def differs_in_one_size(a: Sizes, b: Sizes) -> bool:
    apart = [size for size in published_size_changed.ATTENTION if getattr(a, size) != getattr(b, size)]
    return len(apart) == 1 and same(a._replace(**{apart[0]: 0}), b._replace(**{apart[0]: 0}))


def test_what_classes_have_by_default_is_no_changed_model() -> None:
    found = [
        item.message
        for record in recorded("parameters.jsonl.xz")
        for item in findings(json.dumps(record["config"], indent=2))
    ]
    assert found == []


@pytest.mark.skipif(not corpus.SHARED.exists(), reason="the corpus is not beside the repository")
def test_published_files_and_look_alikes_are_left_alone() -> None:
    said = [(name, item.message) for name, real, text in corpus.published() for item in findings(text, real)]
    said += [
        (case.id, item.message)
        for case in corpus.cases("clean.jsonl")
        for item in findings(case.data["input"], case.data["file_name"])
    ]
    assert said == []


QWEN3_8B: dict[str, Any] = {
    "model_type": "qwen3",
    "head_dim": 128,
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_attention_heads": 32,
    "num_hidden_layers": 36,
    "num_key_value_heads": 8,
    "vocab_size": 151936,
}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, None),
        ({"num_key_value_heads": 4}, "k_proj is [512, 4096] here and [1024, 4096] there"),
        ({"num_attention_heads": 16}, "q_proj is [2048, 4096] here and [4096, 4096] there"),
        ({"head_dim": 64}, "q_proj is [2048, 4096] here and [4096, 4096] there"),
        ({"hidden_size": 2048}, "embed_tokens is [151936, 2048] here and [151936, 4096] there"),
        ({"num_key_value_heads": 4, "vocab_size": 151669}, "has 8"),  # Qwen3-Embedding's tokens
        ({"num_key_value_heads": 4, "vocab_size": 32000}, None),
        ({"num_key_value_heads": 4, "num_hidden_layers": 24}, None),
        ({"num_key_value_heads": 4, "num_attention_heads": 16}, None),
        ({"num_key_value_heads": 4, "intermediate_size": 9216}, None),
        ({"num_key_value_heads": 4, "model_type": "llama"}, None),
        ({"num_key_value_heads": None}, "num_key_value_heads is not given, so 32"),
        ({"num_key_value_heads": [8] * 36}, None),
        ({"head_dim": "64"}, None),
    ],
)
def test_one_size_of_attention_is_noticed(changes: dict[str, Any], says: str | None) -> None:
    messages = [item.message for item in findings(json.dumps({**QWEN3_8B, **changes}))]
    assert (messages == []) if says is None else (len(messages) == 1 and says in messages[0]), messages


def test_restoring_the_value_removes_the_finding() -> None:
    from neurarch_rules.engine.fixes import apply_edits

    text = json.dumps({**QWEN3_8B, "num_key_value_heads": 4}, indent=2)
    (finding,) = findings(text)
    (fix,) = finding.fixes
    assert fix.applicability == "display"
    assert "(72 KiB -> 144 KiB per token, +0.15 B parameters)" in fix.title
    assert json.loads(apply_edits(text, fix.edits)) == QWEN3_8B
