"""Everything known about one Python file: computed lazily, once, and shared by rules, hovers and reports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from neurarch_schemas.elsewhere import Elsewhere, here
from neurarch_schemas.record import replace

if TYPE_CHECKING:
    from neurarch_schemas.config_calls.find import ConfigCall
    from neurarch_schemas.documents.python_document import PythonDocument
    from neurarch_schemas.documents.python_units import Placed
    from neurarch_schemas.surroundings.folder import Folder

_MODEL_CODE = re.compile(r"\btorch|\btransformers\b|\bpeft\b|\bnn\.|Pre[Tt]rainedConfig|\bvocab_size\b")

_WORDS = ("torch", "transformers", "peft", "nn.", "rainedConfig", "vocab_size")
"""One of these is in whatever the pattern finds."""


def is_model_code(text: str) -> bool:
    """Whether a Python text may define or build a model; other files are not even parsed."""
    # Looking for plain words is many times faster than the pattern, and most files hold none of them.
    return any(word in text for word in _WORDS) and _MODEL_CODE.search(text) is not None


@dataclass(frozen=True)
class PythonAnalysis:
    """The counterpart of ``Analysis`` for a Python file; ``config`` is None, as no config is the file's own."""

    document: PythonDocument
    folder: Folder
    kind: Literal["python"] = "python"
    config: None = None
    interpreting: Elsewhere = here
    """Where Python code is interpreted, which may take seconds."""

    @cached_property
    def units(self) -> tuple[Placed, ...]:
        """The top-level statements that can be read; a broken one is left out."""
        from neurarch_schemas.documents.python_units import units

        return units(self.document.text)

    @cached_property
    def config_calls(self) -> tuple[ConfigCall, ...]:
        """The configs that the text constructs (``LlamaConfig(...)``), each as the config.json it stands for."""
        from neurarch_schemas.config_calls.find import config_calls

        found = config_calls(self.document.text, self.document.uri, self.units)
        return tuple(replace(call, interpreting=self.interpreting) for call in found)
