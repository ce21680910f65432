"""Files made to hurt: --check answers, never with a defect of its own."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from neurarch_lsp.linting.lint import lint
from neurarch_rules.engine.options import Options

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
}
TEXTS = {
    "many keys": json.dumps({**LLAMA, **{f"hidden_siz{number}": number for number in range(20_000)}}),
    "many labels": json.dumps({**LLAMA, "id2label": {str(number): f"L{number}" for number in range(20_000)}}),
    "many layers": json.dumps({**LLAMA, "layer_types": ["full_attention", "sliding_attention"] * 50_000}),
    "many equal keys": '{"model_type": "llama", ' + ",".join('"hidden_size": 1' for _ in range(20_000)) + "}",
    "many nested configs": json.dumps({"model_type": "llava", "vision_config": {f"k{i}": LLAMA for i in range(2_000)}}),
    "deep": '{"model_type": "llama", "a": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "deep and open": '{"model_type": "llama", "a": ' + '{"a":' * 20_000,
    "quotes": '{"model_type": "llama", ' + '"' * 100_001,
    "commas": '{"model_type": "llama", ' + "," * 100_000 + "}",
    "crossed brackets": '{"model_type": "llama", "a": ' + "}{][" * 20_000,
    "one line": json.dumps({**LLAMA, "note": "a" * 3_000_000}),
    "an integer beyond every float": json.dumps({**LLAMA, "hidden_size": 10**4000}),
    "a number beyond Python's integers": '{"model_type": "llama", "hidden_size": ' + "9" * 100_000 + "}",
    "sizes beyond a machine word": json.dumps({**LLAMA, "num_hidden_layers": 10**30, "vocab_size": 10**40}),
    "zero and below": json.dumps({**LLAMA, "num_hidden_layers": -5, "hidden_size": 0, "num_attention_heads": 0}),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_hostile_file_gets_an_answer(text: str, tmp_path: Path) -> None:
    start = time.process_time()
    outcome = lint("config.json", str(tmp_path / "config.json"), text, Options())
    assert time.process_time() - start < 5
    assert outcome.result is not None
    assert outcome.result.crashes == ()
