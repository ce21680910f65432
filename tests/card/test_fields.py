"""No written key is called "not read" that decides about a tensor."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neurarch_lsp.card.sections.fields import section
from neurarch_rules.engine.analyse import analyse_text
from neurarch_schemas.analysis import Analysis
from tests.config.support import REAL_CONFIGS

CONFIGS = sorted(
    path for path in REAL_CONFIGS.glob("*.json") if not path.name.endswith(("adapter_config.json", "params.json"))
)


def analysis(data: dict[str, Any]) -> Analysis | None:
    return analyse_text("model/config.json", json.dumps(data))


def not_read(found: Analysis) -> list[str]:
    card = section(found)
    return [] if card is None else list(card.data["not_read"])


@pytest.mark.skipif(not CONFIGS, reason="the published configs are not beside the repository")
def test_what_is_not_read_changes_no_tensor() -> None:
    changed = 0
    for path in CONFIGS:
        data = json.loads(path.read_text(encoding="utf-8"))
        found = analysis(data) if isinstance(data, dict) else None
        if found is None or found.config is None or found.built.tree is None:
            continue
        for key in not_read(found):
            if type(data[key]) is int:
                other = analysis({**data, key: data[key] + 2})
                assert other is not None
                assert other.rows == found.rows, f"{path.name}: {key}"
                changed += 1
    assert changed > 50


@pytest.mark.parametrize(
    "model_type", ["qwen2", "qwen3_moe", "glm4_moe", "olmo2", "phi3", "granite", "cohere", "exaone4"]
)
def test_model_code_reads_keys_that_the_class_does_not_declare(model_type: str) -> None:
    found = analysis({"model_type": model_type, "head_dim": 64, "not_a_key": 1})
    assert found is not None
    assert not_read(found) == ["not_a_key"]


def test_a_key_that_no_code_of_the_family_reads() -> None:
    """Each of these types builds the same tensors with any head_dim (transformers 5.24)."""
    for model_type in ("bert", "gpt2", "opt", "whisper"):
        found = analysis({"model_type": model_type, "head_dim": 24})
        assert found is not None
        assert not_read(found) == ["head_dim"]
