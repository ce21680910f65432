"""A finding about what an object lacks stands on the object, in Python code as in JSON."""

from __future__ import annotations

import pytest

from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import check


@pytest.mark.parametrize(
    ("block", "is_complete"),
    [
        ('{"type": "linear"}', False),
        ('{"rope_type": "yarn", "factr": 4.0}', False),
        ('{"rope_type": "linear", "factor": 2.0}', True),
    ],
)
def test_a_rope_block_without_its_factor(block: str, is_complete: bool) -> None:
    text = f"from transformers import LlamaConfig\nconfig = LlamaConfig(rope_scaling={block})\n"
    analysis = analyse_text("model.py", text)
    assert analysis is not None
    places = [finding.place.span for finding in check(analysis, Options()) if finding.rule == "rope-missing-field"]
    assert [span is not None and text[slice(*span)] for span in places] == (
        [] if is_complete else [f"rope_scaling={block}"]
    )
