"""Classes of a file and the construction shown for each."""

from __future__ import annotations

from neurarch_schemas.interpreter import interpret, module_classes

TEXT = """
from dataclasses import dataclass
import torch.nn as nn


@dataclass
class Config:
    width: int = 4


class Defaults(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.l = nn.Linear(width, width)


class Called(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.l = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])


class Annotated(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.l = nn.Linear(config.width, 1)


class Commented(nn.Module):  # neurarch: Commented(7)
    def __init__(self, width):
        super().__init__()
        self.l = nn.Linear(width, 1)


class Lacking(nn.Module):
    def __init__(self, width, height=2):
        super().__init__()


class NoModule:
    pass


# neurarch: Commented(7)
if __name__ == "__main__":
    width = 5
    model = Called(width, depth=2)
"""


def test_constructions() -> None:
    found = {each.name: each for each in module_classes(TEXT, path="model.py")}
    assert list(found) == ["Defaults", "Called", "Annotated", "Commented", "Lacking"]
    assert (found["Defaults"].construction, found["Defaults"].source) == ("Defaults()", "defaults")
    assert (found["Called"].construction, found["Called"].source) == ("width = 5; Called(width, depth=2)", "file")
    assert (found["Annotated"].construction, found["Annotated"].source) == ("Annotated(Config())", "annotation")
    assert (found["Commented"].construction, found["Commented"].source) == ("Commented(7)", "comment")
    assert found["Lacking"].construction is None
    assert found["Lacking"].reason == "Lacking() needs the argument 'width'"
    assert found["Defaults"].line == TEXT.splitlines().index("class Defaults(nn.Module):") + 1


def test_each_construction_can_be_built() -> None:
    for each in module_classes(TEXT, path="model.py"):
        if each.construction is not None:
            assert interpret(TEXT, each.construction, path="model.py").exact


def test_broken_text_has_none() -> None:
    assert module_classes("class M(\n", path="model.py") == ()
