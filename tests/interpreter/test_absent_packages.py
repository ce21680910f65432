"""Classes of packages that are not installed: Lightning's stand-in, and the reason where nothing stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from neurarch_lsp.features.python_models import read
from neurarch_lsp.features.python_outline import one_line
from neurarch_schemas.interpreter import SourceCache, interpret, module_classes
from neurarch_schemas.modules.tree import rows

LIGHTNING = """
from argparse import Namespace
import lightning.pytorch as pl
from torch import nn


class Direct(pl.LightningModule):
    def __init__(self, width=8, depth=2, **more):
        super().__init__()
        self.save_hyperparameters(ignore=["depth"])
        self.fc = nn.Linear(self.hparams.width, len(self.hparams))


class Derived(Direct):
    def __init__(self, extra=3):
        super().__init__(width=16, other=5)
        self.z = nn.Linear(self.hparams.extra, self.hparams["width"])


class Given(pl.LightningModule):
    def __init__(self, hparams=None):
        super().__init__()
        self.save_hyperparameters(hparams or Namespace(inner=5))
        self.z = nn.Linear(self.hparams.inner, 2)


class Named(pl.LightningModule):
    def __init__(self, a=3, b=4):
        super().__init__()
        local = 7
        self.save_hyperparameters("b")
        self.z = nn.Linear(self.hparams.b + local, len(self.hparams))
"""


@pytest.mark.parametrize(
    ("construction", "parameters"),
    [("Direct()", 9), ("Direct(q=1)", 18), ("Derived()", 115), ("Given()", 12), ("Named()", 12)],
)
@pytest.mark.parametrize("package", ["lightning.pytorch", "pytorch_lightning", "lightning"])
def test_hyperparameters_are_those_of_lightning(construction: str, parameters: int, package: str) -> None:
    """The counts are what Lightning 2.6.0 with torch 2.13 built."""
    result = interpret(LIGHTNING.replace("lightning.pytorch", package), construction, path="net.py")
    assert result.exact, result.reason
    assert result.tree is not None
    assert sum(row.scalars for row in rows(result.tree)) == parameters


def test_an_installed_lightning_is_read_itself(tmp_path: Path) -> None:
    package = tmp_path / "lightning" / "pytorch"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text(
        "from torch import nn\n\n\nclass LightningModule(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.own = nn.Linear(1, 1)\n"
    )
    text = "import lightning.pytorch as pl\n\n\nclass Named(pl.LightningModule):\n    pass\n"
    result = interpret(text, "Named()", [str(tmp_path)], path="net.py")
    assert result.tree is not None
    assert [row.name for row in rows(result.tree)] == ["own.weight", "own.bias"]


ABSENT = """
from torch import nn
from unheard_of import Base, Settings
import pandas


class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)


class Deeper(Net):
    pass


class Options(Settings):
    width = 3


class Table(pandas.DataFrame):
    def forward(self):
        return self
"""


def test_classes_with_a_base_that_is_not_there_are_listed_with_the_reason() -> None:
    found = {each.name: (each.line, each.construction, each.reason) for each in module_classes(ABSENT, path="net.py")}
    reason = "the package unheard_of is not installed"
    assert found == {"Net": (7, None, reason), "Deeper": (16, None, reason)}
    classes = read("net.py", ABSENT, (), False, SourceCache()).classes
    assert [one_line(each) for each in classes] == [f"Net: {reason}", f"Deeper: {reason}"]
