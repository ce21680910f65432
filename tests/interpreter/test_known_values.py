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
        ("x = torch.arange(4).view(2, 2).repeat_interleave(2, dim=0); return x.sum(1).tolist()", (1, 1, 5, 5)),
        ("w, v = torch.linalg.eigh(torch.ones(2, 5, 5)); return (*w.shape, *v.shape)", (2, 5, 2, 5, 5)),
        ("u, s, v = torch.svd(torch.ones(4, 6)); return (*u.shape, *s.shape, *v.shape)", (4, 4, 4, 6, 4)),
        ("u, s, v = torch.linalg.svd(torch.ones(4, 6)); return (*u.shape, *s.shape, *v.shape)", (4, 4, 4, 6, 6)),
        (
            "r = torch.linalg.svd(torch.ones(4, 6), full_matrices=False); return (*r.U.shape, *r.S.shape, *r.Vh.shape)",
            (4, 4, 4, 4, 6),
        ),
        ("return torch.block_diag(torch.ones(2, 3), torch.ones(4)).shape", (3, 7)),
        ("return np.linalg.eigh(np.eye(4) * -1j)[1].conj().T.shape", (4, 4)),
        ("return torch.linalg.pinv(torch.ones(2, 5)).shape", (5, 2)),
        (
            "x = torch.cat((torch.ones(2, 1), torch.zeros(2, 2)), dim=1); return x.flatten().int().tolist()",
            (1, 0, 0, 1, 0, 0),
        ),
        ("return (np.tril(np.ones((4, 4))) - np.diag(np.arange(4))).shape", (4, 4)),
        ("x = torch.flipud(torch.arange(6).view(3, 2)); return x.flatten().tolist()", (4, 5, 2, 3, 0, 1)),
        ("x = torch.arange(4).view(2, 2).flip(-1); return x.flatten().tolist()", (1, 0, 3, 2)),
        ("m = torch.cat((torch.zeros(2, dtype=bool), torch.ones(3, dtype=bool))); return (~m).nonzero().shape", (2, 1)),
        ("return torch.full((2,), 3.0, dtype=int).tolist()", (3, 3)),
        ("return torch.tensor([torch.rand(1) for _ in range(4)]).shape", (4,)),
        ("return torch.tensor([np.ones(2) for _ in range(4)]).shape", (4, 2)),
        ("return torch.nextafter(torch.ones(2, 3), torch.ones(3)).shape", (2, 3)),
        ("m = torch.zeros(2, 2); n = torch.tensor(m); n[0, 0] = 1; return m.nonzero().shape", (0, 2)),
        ("x = np.arange(3); x[1] += 4; x[-1] = 7; return x.tolist()", (0, 5, 7)),
        ("x = np.zeros((2, 2)); x[1, 0] = 3; return x.astype(int).flatten().tolist()", (0, 0, 3, 0)),
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
        "m = torch.zeros(2, 3); m[0][1:] = torch.rand(2); return m.nonzero().shape",
        "m = torch.zeros(2, 3); m.view(-1)[2:].uniform_(); return m.nonzero().shape",
        "m = torch.zeros(2, 3); m.t()[0].fill_(torch.rand(1).item()); return m.nonzero().shape",
        "m = torch.zeros(2, 3); a, b = m.unbind(0); nn.init.normal_(b); return m.nonzero().shape",
    ],
)
def test_what_chance_decides_is_not_known(body: str) -> None:
    found = interpret(MODEL.format(body=body), "Model()")
    assert not found.exact
