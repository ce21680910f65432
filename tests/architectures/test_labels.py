"""How many rows a classification head has: what transformers 5.24 builds through ``AutoConfig.from_pretrained``."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_schemas.architectures.language_heads import label_count
from neurarch_schemas.config.read import read_config

TWO = {"id2label": {"0": "a", "1": "b"}}

BUILT = (
    ("bert", {}, 2),
    ("bert", TWO, 2),
    ("bert", {"num_labels": 10, **TWO}, 10),
    ("bert", {**TWO, "num_labels": 10}, 10),
    ("bert", {**TWO, "num_labels": 2.0}, 2),
    ("bert", {"id2label": {}}, 0),
    ("bert", {"id2label": {}, "num_labels": 3}, 3),
    ("bert", {"id2label": None, "num_labels": 4}, 4),
    ("bart", {}, 3),
    ("bart", TWO, 2),
    ("bart", {**TWO, "num_labels": 10}, 10),
    ("pvt", {}, 1000),
    ("pvt", TWO, 1000),
    ("pvt", {**TWO, "num_labels": 10}, 10),
    ("openai_privacy_filter", {}, 33),
    ("openai_privacy_filter", TWO, 2),
    ("openai_privacy_filter", {**TWO, "num_labels": 10}, 2),
    ("openai_privacy_filter", {"num_labels": 5}, 5),
)


@pytest.mark.parametrize(("model_type", "labels", "rows"), BUILT)
def test_rows(model_type: str, labels: dict[str, Any], rows: int) -> None:
    assert label_count(read_config({"model_type": model_type, **labels})) == rows
