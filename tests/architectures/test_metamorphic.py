"""What must hold of any tree, whatever was recorded: layers add up, sizes matter, cost does not grow with counts."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import Module, rows

from .conftest import recorded

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
OWN_LAYERS = {"hrm_text": "num_layers_per_stack", "xlstm": "num_blocks", "zamba2": None}
"""Types whose classes count layers by another key; Zamba2's only by its list of layer types."""
NOT_COUNTED_BY_LAYERS = {
    "hrm_text": "its two stacks have lengths of their own, H_layers and L_layers",
    "xlstm": "num_blocks is the key that counts",
    "zamba": "its list of layer kinds does not follow the number of layers",
    "zamba2": "its list of layer kinds does not follow the number of layers",
}
DECODERS = [
    record
    for record in recorded("parameters")
    if record["variant"] == "tiny-a"
    and record["architecture"].endswith(("ForCausalLM", "LMHeadModel"))
    and record["model_type"] in architectures.families()
]


def label(record: dict[str, Any]) -> str:
    return str(record["model_type"])


def build(config: dict[str, Any]) -> Module:
    return architectures.build(read_config(config))


def total(config: dict[str, Any]) -> int:
    return count_parameters(build(config)).total


def layer_key(config: dict[str, Any]) -> str | None:
    if config["model_type"] in OWN_LAYERS:
        return OWN_LAYERS[config["model_type"]]
    return next((key for key in LAYERS if isinstance(config.get(key), int)), None)


def without_lists(config: dict[str, Any], key: str, layers: int) -> dict[str, Any]:
    """The config with another number of layers; per-layer lists are left to the type's own defaults."""
    kept = {name: value for name, value in config.items() if not (isinstance(value, list) and name != "architectures")}
    return {**kept, key: layers}


@pytest.mark.parametrize("record", DECODERS, ids=label)
def test_vocabulary_adds_one_row_to_each_table(record: dict[str, Any]) -> None:
    """One more token: one row of the embedding, and one of an untied head (and of tables of the same kind)."""
    config = record["config"]
    if not isinstance(config.get("vocab_size"), int):
        pytest.skip("the type has no vocab_size")
    before = rows(build(config))
    after = rows(build({**config, "vocab_size": config["vocab_size"] + config.get("pad_vocab_size_multiple_of", 1)}))
    assert [row.name for row in before] == [row.name for row in after]
    grown = [(old.shape, new.shape) for old, new in zip(before, after, strict=True) if old != new]
    assert grown
    for old_shape, new_shape in grown:
        assert sum(new_shape) > sum(old_shape)
        assert sum(old != new for old, new in zip(old_shape, new_shape, strict=True)) == 1


@pytest.mark.parametrize("record", DECODERS, ids=label)
def test_one_more_layer_adds_the_tensors_of_one_layer(record: dict[str, Any]) -> None:
    """Between 6 and 7 layers only counts change, by one layer's worth at most for each pattern, and none shrinks."""
    key = layer_key(record["config"])
    if key is None or record["model_type"] in NOT_COUNTED_BY_LAYERS:
        pytest.skip(NOT_COUNTED_BY_LAYERS.get(record["model_type"], "the type has no number of layers"))
    try:
        fewer = build(without_lists(record["config"], key, 6))
        more = build(without_lists(record["config"], key, 7))
    except CannotBuild as error:
        pytest.skip(f"not with the defaults of its per-layer lists: {error}")
    old = Counter({(row.name, row.shape, row.kind): row.count for row in rows(fewer)})
    new = Counter({(row.name, row.shape, row.kind): row.count for row in rows(more)})
    assert new != old
    assert not old - new or sum((new - old).values()) > sum((old - new).values())
    assert count_parameters(more).total > count_parameters(fewer).total


@pytest.mark.parametrize("record", DECODERS, ids=label)
def test_a_billion_layers_cost_what_a_few_do(record: dict[str, Any]) -> None:
    key = layer_key(record["config"])
    if key is None or record["model_type"] in NOT_COUNTED_BY_LAYERS:
        pytest.skip(NOT_COUNTED_BY_LAYERS.get(record["model_type"], "the type has no number of layers"))
    config = without_lists(record["config"], key, 10**9)
    start = time.perf_counter()
    try:
        tree = build(config)
    except CannotBuild:
        tree = None
    if tree is not None:
        assert count_parameters(tree).total > 10**9
        cache = kv_cache(tree)
        assert cache is None or cache.at(8192) >= 0
    assert time.perf_counter() - start < 1.0, "work grew with the number of layers"
