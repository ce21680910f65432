"""From a field of a config class to its uses and back, across the files of a model and the workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types

from .clients import PROFILES, SECONDS, Document, Session, start

pytestmark = pytest.mark.asyncio(loop_scope="session")

CONFIGURATION = '''\
from transformers import PretrainedConfig


class TinyConfig(PretrainedConfig):
    """hidden_size: config.hidden_size is only told about here"""

    model_type = "tiny"

    def __init__(self, hidden_size=64, n_layer=2, **kwargs):
        self.hidden_size = hidden_size
        self.n_layer = n_layer
        super().__init__(**kwargs)
'''
MODELING = """\
import torch.nn as nn
from .configuration_tiny import TinyConfig

NOTE = "𝛼 config.hidden_size"


class TinyModel(nn.Module):
    def __init__(self, config: TinyConfig):
        s = "𝛼𝛼"; self.proj = nn.Linear(config.hidden_size, 4 * self.config.hidden_size)  # config.hidden_size
        self.flag = getattr(config, "hidden_size", 3)
        self.other = other.hidden_size
"""
SCRIPT = """\
from tiny.configuration_tiny import TinyConfig

config = TinyConfig(
    hidden_size=128,
)
print(config.hidden_size)
"""
UNRELATED = "def f(config):\n    return config.hidden_size\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = tmp_path / "tiny"
    model.mkdir()
    (model / "configuration_tiny.py").write_text(CONFIGURATION)
    (model / "modeling_tiny.py").write_text(MODELING)
    (model / "config.json").write_text('{"model_type": "tiny", "hidden_size": 32}')
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "unrelated.py").write_text(UNRELATED)
    return tmp_path


def opened(session: Session, path: Path) -> Document:
    language = "python" if path.suffix == ".py" else "json"
    return session.document(path.read_text(), path.as_uri(), language=language)


async def references(session: Session, document: Document, needle: str, declaration: bool = True) -> set[str]:
    params = types.ReferenceParams(
        types.ReferenceContext(include_declaration=declaration), document.identifier, document.at(needle, 2)
    )
    found = await asyncio.wait_for(session.client.text_document_references_async(params), SECONDS)
    return {f"{place.uri.rpartition('/')[2]}:{place.range.start.line + 1}" for place in found or ()}


IN_MODEL = {"modeling_tiny.py:9", "modeling_tiny.py:10", "config.json:1"}
FIELD = {"configuration_tiny.py:9", "configuration_tiny.py:10"}


async def test_references_of_a_field(session: Session, folder: Path) -> None:
    document = opened(session, folder / "tiny" / "configuration_tiny.py")
    assert await references(session, document, "hidden_size=64") == IN_MODEL | FIELD
    assert await references(session, document, "hidden_size=64", declaration=False) == IN_MODEL
    document.close()


async def test_references_of_a_use_and_of_a_key(session: Session, folder: Path) -> None:
    document = opened(session, folder / "tiny" / "modeling_tiny.py")
    assert await references(session, document, "hidden_size, 4") == IN_MODEL | FIELD
    assert await references(session, document, "hidden_size, 4 * self") == IN_MODEL | FIELD
    assert await references(session, document, "other.hidden") == set()
    document.close()
    document = opened(session, folder / "tiny" / "config.json")
    assert await references(session, document, '"hidden_size') == IN_MODEL | FIELD
    document.close()


async def test_uses_in_the_workspace_are_those_that_name_the_class(folder: Path) -> None:
    client = await start(PROFILES[1], folder)
    session = Session(client, PROFILES[1])
    document = opened(session, folder / "tiny" / "configuration_tiny.py")
    found = await references(session, document, "hidden_size=64")
    assert found == IN_MODEL | FIELD | {"train.py:4", "train.py:6"}
    script = opened(session, folder / "train.py")
    script.substitute("print(config.hidden_size)", "\n\nprint(config.hidden_size)")
    found = await references(session, document, "hidden_size=64")
    assert found == IN_MODEL | FIELD | {"train.py:4", "train.py:8"}  # as it stands in the editor
    await client.shutdown_session()
    await client.stop()


async def definition(session: Session, document: Document, needle: str) -> list[str]:
    params = types.DefinitionParams(document.identifier, document.at(needle, 2))
    found = await asyncio.wait_for(session.client.text_document_definition_async(params), SECONDS)
    places = [
        (each.target_uri, each.target_range) if isinstance(each, types.LocationLink) else (each.uri, each.range)
        for each in (found if isinstance(found, list | tuple) else [])
    ]
    return [f"{uri.rpartition('/')[2]}:{place.start.line + 1}" for uri, place in places]


async def test_definitions(session: Session, folder: Path) -> None:
    document = opened(session, folder / "tiny" / "modeling_tiny.py")
    assert await definition(session, document, "hidden_size, 4") == ["configuration_tiny.py:9", "config.json:1"]
    document.close()
    document = opened(session, folder / "tiny" / "config.json")
    assert await definition(session, document, '"hidden_size') == ["configuration_tiny.py:9"]
    document.close()
    text = CONFIGURATION + "\n\nsmall = TinyConfig(n_layer=1)\n"
    document = session.document(text, "file:///nowhere/tiny/all.py", language="python")
    assert await definition(session, document, "n_layer=1)") == ["all.py:9"]
    document.close()


async def test_completion_behind_the_dot_of_a_config(session: Session, folder: Path) -> None:
    document = opened(session, folder / "tiny" / "modeling_tiny.py")
    document.substitute("4 * self.config.hidden_size", "4 * self.config.")
    params = types.CompletionParams(
        document.identifier,
        document.at("4 * self.config.", 16),
        types.CompletionContext(types.CompletionTriggerKind.TriggerCharacter, "."),
    )
    found = await asyncio.wait_for(session.client.text_document_completion_async(params), SECONDS)
    assert isinstance(found, types.CompletionList)
    assert {"hidden_size", "n_layer"} <= {item.label for item in found.items}
    document.close()
