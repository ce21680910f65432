"""The entry points: what one construction builds, what the classes of a file build, what a config builds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence

from neurarch_schemas.interpreter.budgets import Budgets
from neurarch_schemas.interpreter.module_classes import ModuleClass, described, module_classes
from neurarch_schemas.interpreter.session import Interpretation, Session, located, module_name
from neurarch_schemas.interpreter.sources import SourceCache

_AUTO = os.path.join("transformers", "models", "auto", "configuration_auto.py")


def interpret(
    path_or_text: str,
    expression: str | None = None,
    search_paths: Sequence[str] = (),
    budgets: Budgets | None = None,
    *,
    path: str | None = None,
    cache: SourceCache | None = None,
    variables: Mapping[str, object] | None = None,
) -> Interpretation:
    """Evaluate a construction in a file's namespace. Never raises on user input."""
    if expression is None:
        found = module_classes(path_or_text, search_paths, path=path, cache=cache)
        chosen = [each for each in found if each.construction is not None]
        if not chosen:
            reason = found[-1].reason if found else "the file defines no module class"
            return Interpretation(None, False, reason)
        expression = chosen[-1].construction or ""
    place, overlay = located(path_or_text, path)
    session = Session(place, overlay, search_paths, budgets or Budgets(), cache or SourceCache(), variables)
    return session.answer(expression)


def interpret_file(
    path: str,
    search_paths: Sequence[str] = (),
    budgets: Budgets | None = None,
    *,
    seconds: float | None = None,
    cache: SourceCache | None = None,
    text: str | None = None,
) -> Iterator[tuple[ModuleClass, Interpretation | None]]:
    """The module classes of a file, as ``module_classes`` lists them, and what the construction of each gives.

    The file's module runs once as long as no construction changes it. ``budgets`` hold for each; ``seconds`` is the
    wall time of all, after which the rest is not known. ``text`` stands for what the file holds.
    """
    started = time.monotonic()
    path = os.path.abspath(path)
    overlay = {} if text is None else {path: text}
    session = Session(path, overlay, search_paths, budgets or Budgets(), cache or SourceCache(), keep=True)
    for each in described(session):
        if each.construction is None:
            yield each, None
        elif seconds is not None and time.monotonic() - started > seconds:
            yield each, Interpretation(None, False, f"the classes before it in the file took {seconds:g} s")
        else:
            yield each, session.answer(each.construction)


def interpret_config(
    path: str,
    class_name: str,
    values: Mapping[str, object],
    search_paths: Sequence[str] = (),
    budgets: Budgets | None = None,
    *,
    config_file: str | None = None,
    config_class: str | None = None,
    method: str = "",
    cache: SourceCache | None = None,
) -> Interpretation:
    """Build ``class_name(config)``: the class is in the file ``path``, the config class is the class's own.

    ``config_class`` names the configuration class (in ``config_file``, else beside the model); where it is left out,
    transformers' own table of configuration classes says it, or the class attribute ``config_class``.
    ``method`` is a class method to call instead of the class
    (``_from_config``). ``values`` are those of a config.json.
    """
    call = f"{class_name}.{method}" if method else class_name
    imports = ""
    if config_class is not None:
        made = f"{config_class}.from_dict(neurarch_values)"
        if config_file is not None:
            imports = f"from {module_name(os.path.abspath(config_file))[1]} import {config_class}; "
    elif any(os.path.isfile(os.path.join(root, _AUTO)) for root in search_paths):
        # the configuration class is the one the library's own table names for these values
        imports = "from transformers.models.auto.configuration_auto import CONFIG_MAPPING; "
        own = f"{class_name}.config_class"
        kind = "neurarch_values.get('model_type')"
        made = f"(CONFIG_MAPPING[{kind}] if {kind} in CONFIG_MAPPING else {own}).from_dict(neurarch_values)"
    else:
        made = f"{class_name}.config_class.from_dict(neurarch_values)"
    expression = f"{call}({made})"
    return interpret(
        path,
        imports + expression,
        search_paths,
        budgets,
        cache=cache,
        variables={"neurarch_values": dict(values)},
    )
