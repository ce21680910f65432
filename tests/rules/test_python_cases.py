"""Reported faults in Python code are found at their line; look-alikes are silent; damage and odd text do no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from neurarch_rules.engine import analyse
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.locate import span_of
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run

from . import corpus

BUGS = corpus.cases("bugs.jsonl", "python")
CLEAN = corpus.cases("clean.jsonl", "python")
MODEL = """import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(8, 8)]
"""


def lint(text: str, path: str = "-.py") -> list[tuple[int, Finding]]:
    analysis = analyse.analyse_text(path, text)
    if analysis is None:
        return []
    result = run(analysis, Options())
    assert not result.crashes
    lines = analysis.document.lines
    return [(lines.position(span_of(found.place, analysis.document)[0])[0] + 1, found) for found in result.findings]


@pytest.mark.parametrize("case", BUGS, ids=lambda case: case.id)
def test_a_reported_fault_is_found(case: corpus.Case, tmp_path: Path) -> None:
    outcome, findings = corpus.findings(corpus.lay_out(case, tmp_path))
    assert corpus.is_found(case, outcome), [(found.rule, found.message) for found in findings]


@pytest.mark.parametrize("case", CLEAN, ids=lambda case: case.id)
def test_a_look_alike_is_silent(case: corpus.Case, tmp_path: Path) -> None:
    assert [found.message for found in corpus.findings(corpus.lay_out(case, tmp_path))[1]] == []


def test_pointer_is_null_and_the_span_is_in_code_points() -> None:
    text = MODEL.replace("import torch.nn as nn\n", 'import torch.nn as nn\nNAME = "größe 𝛼"\n')
    text = text.replace("self.blocks = ", "größe = '𝛼𝛼'; self.blocks = ")
    ((line, found),) = lint(text)
    assert line == 8
    assert found.place.pointer is None
    assert found.place.span is not None
    assert text[slice(*found.place.span)] == "[nn.Linear(8, 8)]"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_any_line_end(newline: str) -> None:
    text = MODEL.replace("\n", newline)
    ((_, found),) = lint(text)
    assert found.place.span is not None
    assert text[slice(*found.place.span)] == "[nn.Linear(8, 8)]"


def test_a_byte_order_mark_does_not_hide_the_file() -> None:
    assert len(lint("\ufeff" + MODEL)) == 1


def test_a_broken_statement_leaves_the_others_readable() -> None:
    text = (
        MODEL + "\n\ndef broken(:\n    return (\n\n\nclass Other(nn.Module):\n    def __init__(self):\n        x = [\n"
    )
    assert [(line, found.rule) for line, found in lint(text)] == [(7, "module-in-plain-list"), (10, "python-syntax")]


def test_a_comment_silences() -> None:
    text = MODEL.replace("8)]", "8)]  # neurarch: ignore[module-in-plain-list] kept out on purpose")
    assert lint(text) == []
    alone = MODEL.replace(
        "        self.blocks", "        # neurarch: ignore[module-in-plain-list] why\n        self.blocks"
    )
    assert lint(alone) == []
    assert lint("# neurarch: file-ignore[module-in-plain-list] why\n" + MODEL) == []


def test_a_file_without_model_code_is_not_ours() -> None:
    assert analyse.analyse_text("-.py", "import os\n\n\ndef main():\n    return [os.getcwd()] * 3\n") is None


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n" + "(" * 5000,
        "import torch\nx = " + "[" * 300 + "]" * 300,
        "import torch\nclass A(A):\n    pass\n",
        "import torch.nn as nn\nclass A(B): pass\nclass B(A): pass\nclass C(nn.Module, A): pass\n",
        "import torch.nn as nn\nclass A(nn.Module):\n    def __init__(self, n=9**9**9):\n        super().__init__()\n"
        "        self.x = nn.Linear(n, 10**400)\n        self.y = A()\n",
        "import torch.nn as nn\nclass A(nn.Module):\n    def __init__(self):\n        while True:\n            pass\n",
        "import torch.nn as nn\nclass A(nn.Module):\n    def __init__():\n        super().__init__()\n        A()\n",
        "import torch\n\x00\x01\ud800",
        "import torch\n'''" + "x\n" * 1000,
    ],
)
def test_odd_text_does_no_harm(text: str) -> None:
    assert {found.rule for _, found in lint(text)} <= {"python-syntax"}


def test_arguments_of_a_config_class_are_read_as_a_config() -> None:
    text = (
        "from transformers import LlamaConfig\n\nHEADS = 7\nconfig = LlamaConfig(\n    hidden_size=224,\n"
        "    num_attention_heads=HEADS,\n    num_key_value_heads=2,\n    head_dim=32,\n    vocab_size=len(words),\n)\n"
    )
    ((line, found),) = lint(text)
    assert (line, found.rule) == (7, "kv-heads-indivisible")
    assert found.place.pointer is None
    assert lint(text.replace("HEADS,", "heads(),")) == []


def test_values_a_condition_hides_are_not_known() -> None:
    text = (
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self, d=10, h=4):\n"
        "        super().__init__()\n        if unknown():\n            h = 5\n        assert d % h == 0\n"
        "        self.a = nn.MultiheadAttention(d, h)\n"
    )
    assert lint(text) == []
    assert len(lint(text.replace("if unknown():", "if d > 20:"))) == 1
