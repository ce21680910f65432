"""Models that bring their own code: the modeling file beside a config, read by the interpreter with that config."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.elsewhere import Elsewhere, here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.interpreter import Interpretation, SourceCache
    from neurarch_schemas.surroundings.folder import Folder


def interpret_remote(
    config: ModelConfig,
    data: JSONValue,
    folder: Folder,
    search_paths: tuple[str, ...],
    interpreting: Elsewhere = here,
) -> Interpretation | None:
    """What the repository's own class builds from this config; None where its code does not lie beside it.

    ``data`` are the values of config.json, ``interpreting`` does the work. Nothing of the code is executed or imported.
    """
    references = data.get("auto_map") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(references, dict) or folder.path is None:
        return None
    model = _model_reference(references, config.architecture)
    configuration = _reference(references.get("AutoConfig"))
    if model is None or configuration is None:
        return None
    paths = [os.path.join(folder.path, f"{module}.py") for module, _ in (model, configuration)]
    if not all(f"{module}.py" in (folder.listing or ()) for module, _ in (model, configuration)):
        return None
    found: Interpretation = interpreting(_interpret, paths[0], model[1], data, search_paths, paths[1], configuration[1])
    return found


def _interpret(
    path: str,
    class_name: str,
    data: Mapping[str, JSONValue],
    search_paths: tuple[str, ...],
    config_file: str,
    config_class: str,
    cache: SourceCache | None = None,
) -> Interpretation:
    from neurarch_schemas.interpreter import interpret_config

    return interpret_config(
        path, class_name, data, search_paths, config_file=config_file, config_class=config_class, cache=cache
    )


def _model_reference(references: dict[str, JSONValue], architecture: str) -> tuple[str, str] | None:
    """The class that ``architectures`` names, else that of the most specific auto class."""
    found = [reference for key, value in references.items() if key != "AutoConfig" and (reference := _reference(value))]
    named = [reference for reference in found if reference[1] == architecture]
    if named:
        return named[0]
    for key in ("AutoModelForCausalLM", "AutoModelForConditionalGeneration", "AutoModelForSeq2SeqLM", "AutoModel"):
        reference = _reference(references.get(key))
        if reference is not None:
            return reference
    return found[0] if found else None


def _reference(value: JSONValue) -> tuple[str, str] | None:
    """ "modeling_x.XForCausalLM" as module and class; code of another repository ("org/repo--...") is not beside us."""
    if not isinstance(value, str) or "--" in value or value.count(".") != 1:
        return None
    module, name = value.split(".")
    return (module, name) if module.isidentifier() and name.isidentifier() else None
