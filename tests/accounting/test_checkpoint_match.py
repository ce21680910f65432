"""Checkpoints that transformers wrote agree with our trees under every naming; damage is found."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.accounting.checkpoint_match import match
from neurarch_schemas.config.read import read_config
from neurarch_schemas.surroundings.folder import CheckpointTensor

DATA = Path(__file__).parent.parent / "data" / "checkpoints.jsonl.xz"
RECORDS: list[dict[str, Any]] = [json.loads(line) for line in lzma.decompress(DATA.read_bytes()).decode().splitlines()]
TIED_ACROSS_TOWERS = {"fsmt"}
"""The class ties its two embedding tables when it is saved and loaded, not when it is built."""

KNOWN = [
    record
    for record in RECORDS
    if record["model_type"] in architectures.families() and record["model_type"] not in TIED_ACROSS_TOWERS
]


def stored(record: dict[str, Any]) -> tuple[CheckpointTensor, ...]:
    return tuple(CheckpointTensor(name, tuple(shape), dtype) for name, shape, dtype in record["tensors"])


@pytest.mark.parametrize("record", KNOWN, ids=lambda record: str(record["model_type"]))
def test_a_saved_model_agrees(record: dict[str, Any]) -> None:
    tree = architectures.build(read_config(record["config"]))
    found = match(tree, stored(record))
    assert found is not None
    assert (found.missing, found.unexpected, found.wrong_shape) == ((), (), ())
    assert found.stored_scalars == found.expected_scalars


def llama() -> dict[str, Any]:
    return next(record for record in KNOWN if record["model_type"] == "llama")


def test_damage_is_found() -> None:
    record = llama()
    tree = architectures.build(read_config(record["config"]))
    tensors = list(stored(record))
    lost = match(tree, tuple(tensor for tensor in tensors if "layers.1.mlp.up_proj" not in tensor.name))
    assert lost is not None
    assert lost.missing == ("model.layers.1.mlp.up_proj.weight",)
    extra = match(tree, (*tensors, CheckpointTensor("model.layers.0.self_attn.sinks", (8,), "F32")))
    assert extra is not None
    assert extra.unexpected == ("model.layers.0.self_attn.sinks",)
    changed = [
        CheckpointTensor(tensor.name, (7, 96), tensor.dtype) if tensor.name.endswith("embed_tokens.weight") else tensor
        for tensor in tensors
    ]
    wrong = match(tree, tuple(changed))
    assert wrong is not None
    assert [shape.stored for shape in wrong.wrong_shape] == [(7, 96)]


def test_multi_token_prediction_is_told_apart() -> None:
    record = llama()
    tree = architectures.build(read_config(record["config"]))
    further = tuple(
        CheckpointTensor(tensor.name.replace("layers.0.", "layers.5."), tensor.shape, tensor.dtype)
        for tensor in stored(record)
        if "layers.0." in tensor.name
    )
    found = match(tree, stored(record) + further)
    assert found is not None
    assert found.agrees
    assert found.mtp_scalars > 0


def test_names_alone_are_enough() -> None:
    record = llama()
    tree = architectures.build(read_config(record["config"]))
    found = match(tree, tuple(CheckpointTensor(tensor.name, None, None) for tensor in stored(record)))
    assert found is not None
    assert found.agrees
    assert found.stored_scalars is None


def test_a_billion_layers_are_not_walked() -> None:
    config = {**llama()["config"], "num_hidden_layers": 10**9, "layer_types": None}
    assert match(architectures.build(read_config(config)), stored(llama())) is None
