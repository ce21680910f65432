"""The same file again, at another path: folders of downloaded models hold many configs hundreds of times."""

from __future__ import annotations

import os

from neurarch_lsp.linting.lint import Outcome, Siblings
from neurarch_rules.engine import analyse
from neurarch_rules.engine.options import Options
from neurarch_schemas.surroundings.folders_above import FoldersAbove
from neurarch_schemas.surroundings.read import read_folder

MOST = 1000
LONGEST = 50_000
"""Longer texts are rare and not worth the memory."""

LOOKS_ELSEWHERE = ("base_model_name_or_path", "peft_type", "auto_map")
"""Words of files that name others, which need not lie directly beside them."""

Key = tuple[str, str]


class Repeats:
    """Outcomes of one run by file name and text; the oldest are forgotten.

    Only of configs that lie alone in their folders, outside of repositories that state versions: nothing but their text
    and the settings then decides what is found in them.
    """

    def __init__(self, folders_above: FoldersAbove) -> None:
        self._folders_above = folders_above
        self._known: dict[Key, tuple[Options, Outcome]] = {}

    def key(self, path: str, text: str) -> Key | None:
        """None for a file that may depend on others."""
        name = os.path.basename(path)
        if name.endswith(analyse.PYTHON) or len(text) > LONGEST or any(word in text for word in LOOKS_ELSEWHERE):
            return None
        folder = read_folder(path, None, self._folders_above)
        return (name, text) if folder.listing == frozenset((name,)) and not folder.requirements else None

    def get(self, key: Key, options: Options, name: str, path: str) -> Outcome | None:
        """The outcome of the same text under the very same settings, as that of the file at ``path``."""
        found = self._known.get(key)
        if found is None or found[0] is not options:
            return None
        outcome = found[1]
        if outcome.report is None:
            return outcome
        return outcome._replace(report=outcome.report._replace(file=name, sibling=Siblings(path)))

    def put(self, key: Key, options: Options, outcome: Outcome) -> None:
        if outcome.result is not None and outcome.result.crashes:
            return
        if len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[key] = (options, outcome)
