"""Native types without an architecture of ours: the modeling file of an installed transformers, read as text."""

from __future__ import annotations

import os
import re
from glob import escape, glob
from typing import TYPE_CHECKING

from neurarch_schemas.documents.json_value import JSONValue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neurarch_schemas.interpreter import Interpretation, SourceCache

_MODELS = os.path.join("transformers", "models")
_LARGEST = 4_000_000
REPORT_SECONDS = 6.0
"""What somebody who asked for a report is made to wait at most."""


def interpret_library(
    architecture: str,
    data: Mapping[str, JSONValue],
    search_paths: Sequence[str],
    *,
    seconds: float = 20.0,
    path: str | None = None,
    cache: SourceCache | None = None,
) -> Interpretation | None:
    """What the class of the installed transformers builds from the values of a config.json.

    None where no transformers with that class is installed. ``seconds`` is the processor time it may take (twice that
    in wall time), ``path`` the modeling file, where it is known.
    Nothing is executed or imported.
    """
    path = path or modeling_file(architecture, str(data.get("model_type", "")), search_paths)
    if path is None:
        return None
    from neurarch_schemas.interpreter import Budgets, interpret_config

    budgets = Budgets(seconds=seconds, total_seconds=2 * seconds)
    return interpret_config(path, architecture, data, search_paths, budgets, cache=cache)


def for_report(
    architecture: str,
    data: Mapping[str, JSONValue],
    search_paths: Sequence[str],
    cache: SourceCache | None = None,
) -> Interpretation | None:
    """As ``interpret_library``, within the time that a report may take."""
    return interpret_library(architecture, data, search_paths, seconds=REPORT_SECONDS, cache=cache)


def models_folder(search_paths: Sequence[str]) -> str | None:
    """Where an installed transformers has its models; None where none is."""
    return next((found for root in search_paths if os.path.isdir(found := os.path.join(root, _MODELS))), None)


def modeling_file(architecture: str, model_type: str, search_paths: Sequence[str]) -> str | None:
    """The modeling file that defines the class: in the folder of its type, else in any other."""
    if not architecture.isidentifier():
        return None
    models = models_folder(search_paths)
    if models is None:
        return None
    folder = re.sub(r"\W", "_", model_type)
    first = sorted(glob(os.path.join(escape(models), folder, "modeling_*.py")))
    wanted = re.compile(rf"^class {architecture}\b", re.M)
    for file in first:
        if wanted.search(_text(file)):
            return file
    for file in sorted(glob(os.path.join(escape(models), "*", "modeling_*.py"))):
        if wanted.search(_text(file)):
            return file
    return None


def _text(path: str) -> str:
    try:
        if os.path.getsize(path) > _LARGEST:
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
