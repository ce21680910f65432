"""``--show-files`` and ``--show-settings``: what a run would do."""

from __future__ import annotations

import json
from collections.abc import Iterable

from neurarch_lsp.linting.batch import Task
from neurarch_lsp.linting.lint import CannotRead, read_text
from neurarch_lsp.settings.resolve import Resolver
from neurarch_rules.engine import analyse, discovery, selection


def files(tasks: Iterable[Task]) -> str:
    """The files that are ours, with their kind."""
    lines: list[str] = []
    for task in tasks:
        try:
            found = analyse.analyse_text(task.document_path, read_text(task.path))
        except CannotRead:
            continue
        if found is not None:
            lines.append(f"{found.kind:<18}{task.name}\n")
    return "".join(lines)


def settings(tasks: Iterable[Task], resolver: Resolver) -> str:
    """For each file the settings file in force, what it comes to, and the rules that run; as JSON."""
    entries = []
    for task in tasks:
        found = resolver.file_for(None if task.document_path == "-" else task.document_path)
        rules = selection.selected(discovery.all_rules(task.options.plugins), task.options)
        entries.append(
            {
                "file": task.name,
                "settings_file": found.path if found else None,
                "settings": {
                    **task.options._asdict(),
                    "serving": task.options.serving._asdict(),
                    "limits": task.options.limits._asdict(),
                    "python": task.options.python._asdict(),
                    "ignores": [entry._asdict() for entry in task.options.ignores],
                },
                "rules": [rule.RULE.name for rule in rules],
            }
        )
    return json.dumps(entries, indent=2) + "\n"
