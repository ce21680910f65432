"""Names of a package that imports everything from its parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from neurarch_schemas.interpreter import interpret
from neurarch_schemas.modules.tree import rows

PART = """
import torch.nn as nn
class BigNetModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear({width}, 1)
"""
LAZY = """
import sys
from typing import TYPE_CHECKING
from lazy import _LazyModule
if TYPE_CHECKING:
    from .big_net import *
    from .other import *
else:
    sys.modules[__name__] = _LazyModule(__name__, __file__, {}, module_spec=__spec__)
"""
EAGER = """
from .big_net import *
from .other import *
"""


@pytest.mark.parametrize(
    ("lazy", "width"),
    [
        pytest.param(False, 2, id="the last import wins"),
        pytest.param(True, 1, id="in a lazy table a name is at home in the package it begins with"),
    ],
)
def test_which_part_a_name_is_from(tmp_path: Path, lazy: bool, width: int) -> None:
    package = tmp_path / "zoo"
    package.mkdir()
    (tmp_path / "lazy.py").write_text("class _LazyModule: pass\n")
    (package / "__init__.py").write_text(LAZY if lazy else EAGER)
    (package / "big_net.py").write_text(PART.format(width=1))
    (package / "other.py").write_text(PART.format(width=2))
    (tmp_path / "model.py").write_text("from zoo import BigNetModel\n")
    result = interpret(str(tmp_path / "model.py"), "BigNetModel()", [str(tmp_path)])
    assert result.exact
    assert result.tree is not None
    assert {row.name: row.shape for row in rows(result.tree)}["a.weight"] == (1, width)
