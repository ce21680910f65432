"""Packages that programs take their configuration from, and Lightning, as texts of our own, interpreted as any file is.

Their own sources build classes from text or read what only a run would know; what a constructor sees of them is small.
A text may ask two things of us: ``neurarch_unknown(reason)``, and the text of an annotation.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import unknown_data
from neurarch_schemas.interpreter.statements import Annotation
from neurarch_schemas.interpreter.values import Builtin, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_FOLDER = os.path.join(os.path.dirname(__file__), "stand_ins")
TEXTS = {
    "argparse": "argparse",
    "omegaconf": "omegaconf",
    "omegaconf.dictconfig": "omegaconf",
    "omegaconf.listconfig": "omegaconf",
    "pydantic": "pydantic",
    "pydantic.dataclasses": "pydantic",
    "pydantic.fields": "pydantic",
    "pydantic.main": "pydantic",
    "pydantic_settings": "pydantic",
    "attr": "attrs",
    "attrs": "attrs",
    "easydict": "dictionaries",
    "addict": "dictionaries",
    "munch": "dictionaries",
    "ml_collections": "dictionaries",
    "ml_collections.config_dict": "dictionaries",
    "yacs": "dictionaries",
    "yacs.config": "dictionaries",
    "hydra": "hydra",
    "hydra.utils": "hydra",
    "hydra.core.config_store": "hydra",
    "hydra.core.global_hydra": "hydra",
    "hydra.core.hydra_config": "hydra",
    "lightning": "lightning",
    "lightning.pytorch": "lightning",
    "lightning.pytorch.core": "lightning",
    "lightning.pytorch.core.mixins": "lightning",
    "lightning.pytorch.core.module": "lightning",
    "pytorch_lightning": "lightning",
    "pytorch_lightning.core": "lightning",
    "pytorch_lightning.core.lightning": "lightning",
    "pytorch_lightning.core.mixins": "lightning",
    "pytorch_lightning.core.module": "lightning",
}
"""Modules and the text that stands for each; modules of one text share its names."""
WHERE_ABSENT = ("lightning", "pytorch_lightning")
"""Packages whose own source is read where it is installed."""


def build(machine: Machine, name: str) -> PythonModule:
    text = TEXTS[name]
    source = machine.state.get(f"stand-in {text}")
    if source is None:
        source = machine.new_module(f"<{text}>", os.path.join(_FOLDER, f"{text}.txt"), False)
        source.namespace["neurarch_unknown"] = Builtin("unknown", lambda machine, reason: Unknown(reason, data=True))
        source.namespace["neurarch_annotation"] = Builtin("annotation", _annotation)
        machine.state[f"stand-in {text}"] = source
        machine.run_module(source)
    made = PythonModule(name, None, True)
    made.loading = True
    made.namespace.update({key: value for key, value in source.namespace.items() if not key.startswith("__")})
    made.namespace["__version__"] = machine.sources.version(name.partition(".")[0]) or "2"
    made.missing = unknown_data(name)
    return made


def _annotation(machine: Machine, notes: Value, name: str) -> str:
    found = notes.get(name) if isinstance(notes, dict) else None
    return found.text() if isinstance(found, Annotation) else ""
