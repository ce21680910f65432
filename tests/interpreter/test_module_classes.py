"""Classes of a file and the construction shown for each."""

from __future__ import annotations

from pathlib import Path

from neurarch_schemas.interpreter import interpret, module_classes
from neurarch_schemas.modules.tree import rows

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


class ByName(nn.Module):
    def __init__(self, *, config: Config):
        super().__init__()
        self.l = nn.Linear(config.width, 1)


class Narrow(nn.Linear):
    def forward(self, x):
        return super().forward(x)


class Wide(nn.TransformerEncoderLayer):
    pass


class Quiet(nn.ReLU):
    pass


class NoModule:
    pass


# neurarch: Commented(7)
if __name__ == "__main__":
    width = 5
    model = Called(width, depth=2)
"""


def test_constructions() -> None:
    found = {each.name: each for each in module_classes(TEXT, path="model.py")}
    assert list(found) == [
        *("Defaults", "Called", "Annotated", "Commented", "Lacking"),
        *("ByName", "Narrow", "Wide", "Quiet"),
    ]
    assert found["ByName"].construction == "ByName(config=Config())"
    assert found["Narrow"].reason == "Narrow() needs the argument 'in_features'"
    assert found["Wide"].reason == "Wide() needs the argument 'd_model'"
    assert found["Quiet"].construction == "Quiet()"
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


FABLED = """
from transformers import PretrainedConfig, PreTrainedModel
import torch.nn as nn


class FabledConfig(PretrainedConfig):
    def __init__(self, width=3, **kwargs):
        self.width = width
        super().__init__(**kwargs)


class FabledLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.l = nn.Linear(config.width, 1)


class FabledModel(PreTrainedModel):
    config_class = FabledConfig

    def __init__(self, config: FabledConfig):
        super().__init__(config)
        self.layer = FabledLayer(config)
        self.post_init()


class Sized(nn.Module):
    def __init__(self, size):
        super().__init__()
"""


def sums(path: Path) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for each in module_classes(str(path)):
        found[each.name] = None
        if each.construction is not None:
            result = interpret(str(path), each.construction)
            assert result.exact, result.reason
            assert result.tree is not None
            found[each.name] = sum(row.scalars for row in rows(result.tree))
    return found


def test_the_config_beside_the_file_fills_the_argument(tmp_path: Path) -> None:
    file = tmp_path / "modeling_fabled.py"
    file.write_text(FABLED, encoding="utf-8")
    assert sums(file) == {"FabledLayer": None, "FabledModel": 3 + 1, "Sized": None}
    beside = tmp_path / "config.json"
    beside.write_text('{"architectures": ["FabledModel"], "width": 7}', encoding="utf-8")
    assert sums(file) == {"FabledLayer": 7 + 1, "FabledModel": 7 + 1, "Sized": None}
    constructions = {each.name: each for each in module_classes(str(file))}
    assert constructions["FabledModel"].source == "config.json"
    assert (
        constructions["FabledModel"].construction
        == "import json; FabledModel(FabledConfig.from_dict(json.load(open('config.json'))))"
    )


def test_a_config_that_speaks_of_another_model_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "modeling_fabled.py"
    file.write_text(FABLED, encoding="utf-8")
    (tmp_path / "config.json").write_text('{"architectures": ["Other"], "width": 7}', encoding="utf-8")
    assert sums(file) == {"FabledLayer": None, "FabledModel": 3 + 1, "Sized": None}


def test_a_dataclass_is_filled_where_every_key_is_a_field(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(TEXT, encoding="utf-8")
    beside = tmp_path / "config.json"
    beside.write_text('{"width": 9}', encoding="utf-8")
    assert sums(file)["Annotated"] == 9 + 1
    beside.write_text('{"width": 9, "colour": "red"}', encoding="utf-8")
    assert sums(file)["Annotated"] == 4 + 1
