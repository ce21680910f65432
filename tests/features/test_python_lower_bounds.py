"""A count of a class in which something has no known shape is said to be a lower bound."""

from __future__ import annotations

from neurarch_lsp.features import python_models, python_outline
from neurarch_schemas.interpreter import SourceCache

SOURCE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.known = nn.Linear(size, 8)
        self.table = nn.Parameter(torch.load("table.pt"))
"""


def test_a_lower_bound_is_said_as_such() -> None:
    (model,) = python_models.read("net.py", SOURCE, (), only_sound=False, cache=SourceCache()).classes
    assert not model.exact
    assert model.incomplete
    assert python_outline.one_line(model).startswith("Net: at least 41 parameters")
    (symbol,) = python_outline.symbols((model,), SOURCE)
    assert symbol.detail is not None
    assert symbol.detail.startswith("at least 41 parameters")
