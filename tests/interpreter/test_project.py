"""Imports of a repository whose folders have no ``__init__.py``: they start at the top of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.interpreter import interpret
from neurarch_schemas.interpreter.project import folders_above

MODEL = """
import torch.nn as nn
{imports}


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.block = Block(width)
        self.head = nn.Linear(width, CLASSES)
"""
BLOCK = """
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
"""
PARAMETERS = 8 * 8 + 8 + 8 * 3 + 3


def lay(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "imports",
    [
        "from models.parts.block import Block\nfrom tools.labels import CLASSES",
        "from .parts.block import Block\nfrom tools.labels import CLASSES",
        "from parts.block import Block\nimport tools.labels\nCLASSES = tools.labels.CLASSES",
    ],
)
@pytest.mark.parametrize("mark", ["README.md", "pyproject.toml", "unmarked.txt"])
def test_from_the_top_of_the_project(tmp_path: Path, imports: str, mark: str) -> None:
    repository = lay(
        tmp_path / "repository",
        {
            mark: "",
            "models/model.py": MODEL.format(imports=imports),
            "models/parts/block.py": BLOCK,
            "tools/labels.py": "CLASSES = 3\n",
        },
    )
    found = interpret(str(repository / "models" / "model.py"), "Model()")
    assert found.exact, found.reason
    assert found.tree is not None
    assert count_parameters(found.tree).total == PARAMETERS


def test_no_further_than_the_project(tmp_path: Path) -> None:
    top = lay(tmp_path, {"work/one/README.md": "", "work/one/src/deep/model.py": "", "work/two/model.py": ""}) / "work"
    assert folders_above(str(top / "one" / "src" / "deep")) == (str(top / "one" / "src"), str(top / "one"))
    assert folders_above(str(top / "one")) == ()
    assert folders_above(str(top / "lib" / "site-packages")) == ()
    assert len(folders_above(str(top / "two"))) <= 4
    assert folders_above("/models") == ()


def test_a_plain_folder_does_not_hide_a_package(tmp_path: Path) -> None:
    """A repository's ``datasets/`` with data is no reason not to find the package ``datasets``."""
    repository = lay(
        tmp_path / "repository",
        {
            "README.md": "",
            "datasets/prepare.py": "",
            "models/model.py": MODEL.format(imports="from datasets import CLASSES\nfrom models.block import Block"),
            "models/block.py": BLOCK,
        },
    )
    site = lay(tmp_path / "site", {"datasets/__init__.py": "CLASSES = 3\n"})
    found = interpret(str(repository / "models" / "model.py"), "Model()", [str(site)])
    assert found.exact, found.reason


def test_a_package_of_the_project_is_its_own(tmp_path: Path) -> None:
    repository = lay(
        tmp_path / "repository",
        {
            "README.md": "",
            "datasets/__init__.py": "CLASSES = 3\n",
            "models/__init__.py": "",
            "models/model.py": MODEL.format(imports="from datasets import CLASSES\nfrom models.block import Block"),
            "models/block.py": BLOCK,
        },
    )
    found = interpret(str(repository / "models" / "model.py"), "Model()")
    assert found.exact, found.reason


def test_a_name_whose_module_fails_keeps_the_reason(tmp_path: Path) -> None:
    repository = lay(
        tmp_path / "repository",
        {
            "README.md": "",
            "parts/__init__.py": "from .block import Block\n",
            "parts/block.py": BLOCK + "\n\nclass Never(Block.missing):\n    pass\n",
            "one.py": "import parts\n\nVERSION = parts.Block\n",
            "model.py": MODEL.format(imports="import one\nfrom parts import Block\nCLASSES = 3"),
        },
    )
    found = interpret(str(repository / "model.py"), "Model()")
    assert found.exact, found.reason


def test_versions_are_compared_and_taken_apart(tmp_path: Path) -> None:
    check = """from packaging.version import parse
v, w = parse("2.1.0rc3"), parse("2.1.0.post1")
CLASSES = 3 if (v.pre, w.post, w.is_postrelease, v.is_postrelease) == (("rc", 3), 1, True, False) and v < w else 0
from block import Block"""
    repository = lay(tmp_path, {"block.py": BLOCK, "model.py": MODEL.format(imports=check)})
    found = interpret(str(repository / "model.py"), "Model()")
    assert found.exact, found.reason
    assert found.tree is not None
    assert count_parameters(found.tree).total == PARAMETERS


def test_a_module_that_fails_in_an_optional_import_is_run_anew(tmp_path: Path) -> None:
    """``try: from parts.fast import Fast``, which needs a package that is not there, takes nothing else away."""
    optional = "try:\n    from parts.fast import Fast\nexcept ImportError:\n    Fast = None\n"
    repository = lay(
        tmp_path / "repository",
        {
            "README.md": "",
            "parts/__init__.py": "from .colors import paint\nfrom .block import Block\n",
            "parts/colors.py": "from absent_colors import colored\n\n\ndef paint(text):\n    return colored(text)\n",
            "parts/fast.py": "from parts import Block, paint\n\nNAME = paint('x')\n\n\nclass Fast(Block):\n    pass\n",
            "parts/block.py": BLOCK,
            "model.py": MODEL.format(imports=f"{optional}from parts import Block\nCLASSES = 3"),
        },
    )
    found = interpret(str(repository / "model.py"), "Model()")
    assert found.exact, found.reason
