"""Completion behind ``config.`` in Python code."""

from __future__ import annotations

import pytest

from neurarch_lsp.features.config_field_completion import complete

CONFIGS = """
class GPTConfig:
    n_layer: int = 12
    n_embd: int = 768

class OtherConfig:
    width: int = 3
"""
METHOD = """
class Model:
    def __init__(self, config{annotation}):
        self.config = config
        x = {written}
"""


def offered(
    written: str, annotation: str = ": GPTConfig", own: str = CONFIGS, beside: tuple[str, ...] = ()
) -> list[str]:
    text = own + METHOD.format(annotation=annotation, written=written.replace("|", ""))
    offset = text.index(written.replace("|", "")) + written.index("|")
    items = complete(text, offset, beside)
    for item in items:
        assert text[: item.span[0]].endswith(".")
        assert text[item.span[0] : item.span[1]] == written.partition("config.")[2].replace("|", "")
    return [item.label for item in items]


def test_fields_of_the_annotated_class() -> None:
    assert offered("config.|") == ["n_embd", "n_layer"]
    assert offered("config.n_la|") == ["n_embd", "n_layer"]
    assert offered("self.config.n_|layer") == ["n_embd", "n_layer"]
    assert offered("config.|", ": OtherConfig") == ["width"]
    assert offered("config.|", ': "OtherConfig"') == ["width"]


def test_fields_of_all_classes_where_nothing_says_which() -> None:
    assert offered("config.|", "") == ["n_embd", "n_layer", "width"]


def test_fields_of_classes_in_files_beside() -> None:
    assert offered("config.|", ": GPTConfig", "", (CONFIGS,)) == ["n_embd", "n_layer"]
    assert offered("config.|", "", "", (CONFIGS,)) == ["n_embd", "n_layer", "width"]


def test_keys_of_a_class_of_transformers() -> None:
    found = offered("config.num_hid|", ": LlamaConfig", "from transformers import LlamaConfig\n")
    assert {"num_hidden_layers", "rope_parameters", "hidden_size"} <= set(found)
    assert not {"n_embd", "width"} & set(found)


@pytest.mark.parametrize("written", ["other.|", "'config.|'", "# config.|", "config|", "f(1).|", "1.|"])
def test_nothing_elsewhere(written: str) -> None:
    assert offered(written) == []


def test_the_default_is_told() -> None:
    text = CONFIGS + METHOD.format(annotation=": GPTConfig", written="config.")
    assert [item.detail for item in complete(text, len(text) - 1, ())] == [
        "GPTConfig: 768 where nothing is given",
        "GPTConfig: 12 where nothing is given",
    ]


@pytest.mark.parametrize(
    "made", ["LlamaConfig(hidden_size=8)", "transformers.LlamaConfig()", "LlamaConfig.from_pretrained('x')"]
)
def test_keys_of_what_is_made_above(made: str) -> None:
    text = f"config = {made}\nprint(config.num_hid)\n"
    found = {item.label for item in complete(text, text.index("hid)") + 3, ())}
    assert "num_hidden_layers" in found
