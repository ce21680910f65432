"""Constructors that read a checkpoint: what is in the file changes no shape, what is built from it is labelled."""

from __future__ import annotations

import pytest

from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.interpreter import interpret

MODEL = """
import torch
import torch.nn as nn
from collections import OrderedDict
from torch.nn.modules.utils import _pair, _triple, _ntuple


class Model(nn.Module):
    def __init__(self, path="weights.pt"):
        super().__init__()
        self.layers = nn.ModuleList()
        self.head = nn.Linear(4, 3)
        state = torch.load(path, map_location="cpu")
{body}
"""
COPIED = """
        if "model" in state or "state_dict" in state:
            state = state["model"]
        own = self.state_dict()
        renamed = OrderedDict()
        skipped = []
        for name, value in state.items():
            if name.startswith("module.") and value.dim() > 1:
                name = name.replace("module.", "")
            elif name not in own:
                skipped.append(name)
                continue
            own[name].copy_(value)
            renamed[name] = value
        print(f"{len(skipped)} left out")
        self.load_state_dict(renamed, strict=False)
"""
BUILT = """
        for name, value in state.items():
            self.layers.append(nn.Linear(4, 4))
"""
KEPT = """
        sizes = [self.head]
        for name in state:
            sizes.append(name)
        for size in sizes:
            self.extra = size
"""
BUILT_THROUGH_A_CALL = """
        for name, value in state.items():
            self.add_module(name, make(value))
"""


def test_renaming_the_entries_of_a_checkpoint() -> None:
    found = interpret(MODEL.format(body=COPIED), "Model()")
    assert found.exact, found.reason
    assert found.tree is not None
    assert count_parameters(found.tree).total == 15


@pytest.mark.parametrize("body", [BUILT, KEPT, BUILT_THROUGH_A_CALL])
def test_building_from_a_checkpoint(body: str) -> None:
    found = interpret(MODEL.format(body=body), "Model()")
    assert not found.exact
    assert "a checkpoint" in (found.reason or "")


def test_sizes_of_one_number_or_several() -> None:
    body = """
        self.conv = nn.Conv2d(2, 2, _pair(3))
        self.deep = nn.Conv3d(1, 1, _triple((1, 2, 3)))
        self.wide = nn.Linear(1, sum(_ntuple(5)(2)))
"""
    found = interpret(MODEL.format(body=body), "Model()")
    assert found.exact, found.reason
    assert found.tree is not None
    assert count_parameters(found.tree).total == 15 + 38 + 7 + 20


def test_what_a_condition_guards_is_not_asked() -> None:
    body = """
        self.fast = state["fast"]
        self.table = self.fast and self.only_where_fast
        self.more = None if state or self.only_where_fast else 1
"""
    found = interpret(MODEL.format(body=body), "Model()")
    assert found.exact, found.reason


def test_super_of_an_unrelated_class_is_an_error() -> None:
    body = """
        super(nn.Linear, nn.Conv2d).__init__()
"""
    reason = interpret(MODEL.format(body=body), "Model()").reason
    assert reason is not None
    assert "super(type, obj)" in reason


def test_kernels_are_switched() -> None:
    body = """
        torch.backends.cuda.enable_flash_sdp(True)
        torch.backends.cuda.enable_mem_efficient_sdp(False)
        if torch.backends.cuda.flash_sdp_enabled():
            self.layers.append(nn.Linear(1, 1))
"""
    found = interpret(MODEL.format(body=body), "Model()")
    assert found.exact, found.reason


def test_values_given_in_a_loop_of_unknown_length() -> None:
    body = """
        for block in range(torch.randint(1, 5, (1,)).item()):
            part = tuple(slice(block * size, (block + 1) * size) for size in self.head.weight.shape)
            nn.init.normal_(self.head.weight[part], std=0.1)
"""
    found = interpret(MODEL.format(body=body), "Model()")
    assert found.exact, found.reason


def test_no_tensor_is_spread_over_devices() -> None:
    body = """
        from torch.distributed.tensor import DTensor, Shard
        weight = self.head.weight
        self.more = nn.Linear(2, 2) if isinstance(weight, DTensor) else nn.Linear(1, 1)
"""
    found = interpret(MODEL.format(body=body), "Model()")
    assert found.exact, found.reason
    assert found.tree is not None
    assert count_parameters(found.tree).total == 15 + 2
