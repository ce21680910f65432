"""Sizes that a constructor computes with small tensors: torch's own answers stand beside each."""

from __future__ import annotations

import pytest

from neurarch_schemas.interpreter import interpret

MODEL = """
import torch
import torch.nn.functional as F
import numpy as np
from torch import nn
from beartype.door import is_bearable


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("found", torch.zeros(*self.sizes()))

    def sizes(self):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        ("return F.pad(torch.flip((2 ** (torch.arange(3) + 1)) * 4, (0,)), (1, 0), value=7).tolist()", (7, 32, 16, 8)),
        ("x = 2 ** torch.arange(4); x.clamp_(max=5); x.add_(1); return x.tolist()", (2, 3, 5, 6)),
        ("m = torch.zeros(7).byte(); m[1::2] += 1; return torch.arange(7).masked_select(m > 0).shape", (3,)),
        ("m = torch.zeros(2, 3); m[1, :] = torch.arange(3); m[0, -1] = 4; return m.sum(0).int().tolist()", (0, 1, 6)),
        ("x = torch.arange(6).view(2, 3); return x[x > 1].shape", (4,)),
        ("x = torch.arange(6).view(3, 2); return x[torch.tensor([True, False, True])].shape", (2, 2)),
        ("x = torch.tensor([0, 3, 0, 5]).nonzero(); return (*x.shape, *x.squeeze(-1).tolist())", (2, 1, 1, 3)),
        ("x, = torch.where(torch.arange(5) > 2); return x.tolist()", (3, 4)),
        (
            "u, i = torch.unique(torch.tensor([[1, 2], [0, 5], [1, 2]]), dim=0, return_inverse=True); "
            "return (*u.shape, *(i + 1).tolist())",
            (2, 2, 2, 1, 2),
        ),
        ("a = torch.arange(6).view(2, 3); return (a @ a.t()).diagonal().shape", (2,)),
        ("a = torch.arange(6).view(2, 3); return (a @ a.t()).flatten().tolist()", (5, 14, 14, 50)),
        ("a = torch.arange(6).view(2, 3); return (a[:, torch.tensor([2, 0])] + 1).flatten().tolist()", (3, 1, 6, 4)),
        ("return torch.logspace(0., 3., 4, base=2).int().tolist()", (1, 2, 4, 8)),
        ("return (3,) if np.prod([]) == 1 and np.sum([]) == 0 else (4,)", (3,)),
        ("return (3,) if is_bearable((1, 2), tuple[int, int]) and not is_bearable([1], int | str) else (4,)", (3,)),
        (
            "return (3,) if is_bearable([1, None], list[int | None]) and not is_bearable(1, tuple[int, ...]) else (4,)",
            (3,),
        ),
    ],
)
def test_as_torch_computes_them(body: str, sizes: tuple[int, ...]) -> None:
    found = interpret(MODEL.format(body=body), "Model()")
    assert found.exact, found.reason
    assert found.tree is not None
    assert found.tree.tensors[0].shape == sizes


@pytest.mark.parametrize(
    "body",
    [
        "return torch.randn(4).nonzero().shape",
        "return torch.arange(4).masked_select(torch.randn(4) > 0).shape",
        "m = torch.zeros(4); m[torch.randperm(4)[:2]] = 1; return m.nonzero().shape",
    ],
)
def test_what_chance_decides_is_not_known(body: str) -> None:
    found = interpret(MODEL.format(body=body), "Model()")
    assert not found.exact
