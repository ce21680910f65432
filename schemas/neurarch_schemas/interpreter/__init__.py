"""Python source to a module tree, by abstract interpretation. Nothing of the program is executed or imported.

    from neurarch_schemas.interpreter import SourceCache, interpret, module_classes

    cache = SourceCache()                                  # parsed files, kept by the caller between calls
    result = interpret("model.py", "GPT(GPTConfig(n_layer=24))", search_paths=["site-packages"], cache=cache)
    result.tree        # modules.tree.Module, or None
    result.exact       # True only where every tensor is what the constructor builds
    result.reason      # why there is no tree, or why it is not exact

``interpret(path_or_text, expression, search_paths, budgets, ...)`` evaluates an expression (statements separated by
``; ``, the last an expression) in the namespace of a file. ``path_or_text`` is a path, or a text when ``path=`` says
where it lies (``text`` may be unsaved). Without an expression the file's single shown construction is evaluated
(see ``module_classes``).

``module_classes(path_or_text, ...)`` lists the file's module classes with line numbers and the construction that is
shown for each: its defaults; else a call found in the file; else a line ``# neurarch: GPT(...)``; else the first
missing argument.

``interpret_file(path, search_paths, budgets, ...)`` gives them one by one with what each builds.

``interpret_config(path, class_name, values, search_paths, ...)`` builds ``Architecture(config)`` where the config is
an instance of a configuration class found beside the modeling file, filled from the values of a config.json.
"""

from __future__ import annotations

from neurarch_schemas.interpreter.budgets import HOSTILE, REPORT, Budgets
from neurarch_schemas.interpreter.interpretation import interpret, interpret_config, interpret_file
from neurarch_schemas.interpreter.module_classes import ModuleClass, module_classes
from neurarch_schemas.interpreter.session import Interpretation, Place
from neurarch_schemas.interpreter.sources import SourceCache

__all__ = [
    "HOSTILE",
    "REPORT",
    "Budgets",
    "Interpretation",
    "ModuleClass",
    "Place",
    "SourceCache",
    "interpret",
    "interpret_config",
    "interpret_file",
    "module_classes",
]
