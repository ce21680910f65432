"""Configs in Python code: whatever is typed nothing fails, edits leave sound code, unknown stays unknown."""

from __future__ import annotations

import ast
import random
import time

import pytest

from neurarch_lsp.features import config_field_hover, config_fields
from neurarch_lsp.features.completion import complete
from neurarch_lsp.features.inlay_hints import hints
from neurarch_lsp.render.hover import hover
from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.fixes import apply_edits
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import check
from neurarch_schemas.config_calls.find import ConfigCall
from neurarch_schemas.documents import json_edits
from neurarch_schemas.python_analysis import PythonAnalysis

TEXT = """\
import torch
from transformers import AutoConfig, LlamaConfig, LlavaConfig

HEADS = 8
NAME = "größe 𝛼"


def build(width, **kwargs):
    config = LlamaConfig(
        vocab_size=100,  # a comment, with ( and "
        hidden_size=64 * HEADS,
        num_attention_heads=HEADS, num_key_value_heads=3,
        rope_parameters={"rope_type": "default", 'rope_theta': 1e4},
        torch_dtype=torch.bfloat16,
    )
    config.num_hidden_layers = 3
    return LlavaConfig(text_config=config, vision_config=dict(hidden_size=30, **kwargs))


other = AutoConfig.for_model("llama", layer_types=["full_attention"] * 4, hidden_act=("silu"))
third = LlamaConfig.from_dict({"hidden_size": 64, "num_hiden_layers": 3})
"""


def calls_of(text: str) -> tuple[ConfigCall, ...]:
    found = analyse_text("/nowhere/train.py", text)
    return found.config_calls if isinstance(found, PythonAnalysis) else ()


def ask_everything(text: str, offset: int) -> None:
    found = analyse_text("/nowhere/train.py", text)
    if found is None:
        return
    assert not [each for each in check(found, Options()) if each.rule == "internal-error"]
    for call in calls_of(text):
        hints(call.analysis, (0, len(text)))
        if call.covers(offset):
            hover(call.analysis, offset, Options())
            for item in complete(call.document, offset, "config"):
                assert 0 <= item.span[0] <= offset <= item.span[1] <= len(text)
    config_field_hover.hover(text, offset)
    config_fields.given_at(text, offset)


@pytest.mark.parametrize("step", range(5))
def test_every_prefix_of_a_file(step: int) -> None:
    for end in range(60 + step, len(TEXT), 5):
        ask_everything(TEXT[:end], end)


@pytest.mark.parametrize("seed", range(4))
def test_characters_lost_and_added(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        text = TEXT
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(60, len(text))
            text = (
                text[:at] + chance.choice(["", "(", ")", '"', "'", ",", "=", "\n", "{", "]", "*", "𝛼"]) + text[at + 1 :]
            )
        ask_everything(text, chance.randrange(60, len(text)))


def test_line_ends_of_windows() -> None:
    plain, dos = calls_of(TEXT), calls_of(TEXT.replace("\n", "\r\n"))
    assert [call.document.data for call in plain] == [call.document.data for call in dos]
    text = dos[0].document.text
    span = dos[0].document.pair_span("/num_key_value_heads")
    assert span is not None
    assert text[span[0] : span[1]] == "num_key_value_heads=3"


def edited(text: str, edits: json_edits.Edits) -> str:
    assert edits
    changed = apply_edits(text, edits)
    ast.parse(changed)
    return changed


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_argument_can_be_removed_renamed_and_replaced(newline: str) -> None:
    text = TEXT.replace("\n", newline)
    for number, call in enumerate(calls_of(text)):
        for key in call.document.keys(""):
            pointer = f"/{key}"
            if call.document.key_span(pointer) is None or pointer in call.document.changed:
                continue
            removed = calls_of(edited(text, json_edits.remove_pair(call.document, pointer)))[number]
            assert key not in removed.document.keys("")
            assert removed.document.keys("") == tuple(other for other in call.document.keys("") if other != key)
            renamed = calls_of(edited(text, json_edits.rename_key(call.document, pointer, "new_name")))[number]
            assert "new_name" in renamed.document.keys("")
            for value in (None, True, 12, 0.5, "it's", 'a "b"', [1, None], {"a": {"b": False}}):
                again = edited(text, json_edits.replace_value(call.document, pointer, value))
                assert calls_of(again)[number].document.data[key] == value  # type: ignore[index, call-overload]
        new = edited(text, json_edits.set_value(call.document, "/brand_new", {"a": [True, None]}))
        assert calls_of(new)[number].document.data["brand_new"] == {"a": [True, None]}  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    "code",
    [
        "HEADS = 4\nHEADS = 8\n",
        "def f(HEADS):\n    pass\n\n\nHEADS = 8\n",
        "for HEADS in (1, 2):\n    pass\n",
        "HEADS = 8\nHEADS += 1\n",
        "from sizes import HEADS\n",
        "HEADS = read()\n",
        "HEADS, WIDTH = 8, 9\n",
        "with open(x) as HEADS:\n    pass\n",
        "HEADS = 1 << 3\n",
        "HEADS = 2 ** 10 ** 10\n",
        "HEADS = [8] * 10 ** 9\n",
        "HEADS = HEADS\n",
    ],
)
def test_what_is_not_certain_is_unknown(code: str) -> None:
    (call,) = calls_of(
        f"from transformers import LlamaConfig\n\n{code}\nconfig = LlamaConfig(num_attention_heads=HEADS)\n"
    )
    assert call.unknown == ("/num_attention_heads",)
    assert "num_attention_heads" in str(call.uncertain)
    assert call.analysis.doubt is not None


def test_what_is_certain() -> None:
    call = calls_of(TEXT)[0]
    assert call.document.data == {
        "model_type": "llama",
        "vocab_size": 100,
        "hidden_size": 512,
        "num_attention_heads": 8,
        "num_key_value_heads": 3,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
        "torch_dtype": "bfloat16",
        "num_hidden_layers": 3,
    }
    assert call.uncertain is None


BAD = "LlamaConfig(hidden_size=64, num_attention_heads=8, num_key_value_heads=3)"


@pytest.mark.parametrize(
    "code",
    [
        f"with pytest.raises(ValueError):\n    {BAD}",
        f"with raises(ValueError, match='heads') as caught, other():\n    LlamaForCausalLM({BAD})",
        f"with self.assertRaises(ValueError):\n    config = {BAD}",
        f"self.assertRaises(ValueError, lambda: {BAD})",
    ],
)
def test_what_a_test_wants_to_fail_is_no_fault(code: str) -> None:
    assert problems(code) == []


@pytest.mark.parametrize(
    "code",
    [
        f"with torch.device('meta'):\n    {BAD}",
        f"{BAD}\nwith pytest.raises(ValueError):\n    pass",
        f"with pytest.raises(ValueError):\n    def build():\n        return {BAD}",
    ],
)
def test_what_stands_elsewhere_is_one(code: str) -> None:
    assert problems(code) == ["kv-heads-indivisible"]


def problems(code: str) -> list[str]:
    found = analyse_text("/nowhere/test_model.py", f"from transformers import LlamaConfig, LlamaForCausalLM\n{code}\n")
    assert found is not None
    return [finding.rule for finding in check(found, Options()) if finding.severity == "error"]


@pytest.mark.parametrize("indent", ["", "    "])
def test_many_configs_are_read_in_one_walk(indent: str) -> None:
    made = "c{0} = LlamaConfig(hidden_size=64)\n{1}c{0}.num_hidden_layers = {0}\n"
    lines = ("def build():\n" if indent else "") + "".join(indent + made.format(n, indent) for n in range(1500))
    started = time.process_time()
    found = calls_of(f"from transformers import LlamaConfig\n{lines}")
    assert time.process_time() - started < 4
    assert [call.document.data.get("num_hidden_layers") for call in found if isinstance(call.document.data, dict)] == [
        *range(1500)
    ]


def test_changes_count_where_they_surely_run_before_the_use() -> None:
    code = """\
if small:
    config = LlamaConfig(num_hidden_layers=2)
    config.hidden_size = 64
else:
    config = LlamaConfig(num_hidden_layers=3)
    if tied:
        config.hidden_size = 128
    config.vocab_size = 100; model = build(config)
    config.vocab_size = 200
config.num_attention_heads = 4
"""
    first, second = calls_of(f"from transformers import LlamaConfig\n{code}")
    assert first.document.data == {
        "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    }  # fmt: skip
    assert second.document.data == {"model_type": "llama", "num_hidden_layers": 3, "vocab_size": 100}
    assert second.unknown == ("/hidden_size",)


@pytest.mark.parametrize(
    "change",
    [
        "setattr(config, 'num_key_value_heads', 4)",
        "config.update({'num_key_value_heads': 4, 'use_cache': False})",
        "config.update(overrides)",
        "for key, value in overrides.items():\n    setattr(config, key, value)",
    ],
)
def test_what_a_call_changes_is_unknown(change: str) -> None:
    assert problems(f"config = {BAD}\n{change}") == []


def test_a_call_that_changes_other_keys_hides_nothing() -> None:
    assert problems(f"config = {BAD}\nsetattr(config, 'pad_token_id', pad)") == ["kv-heads-indivisible"]
