"""``--rules`` and ``--explain``: what the linter knows."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from neurarch_rules.engine import discovery


def run(arguments: Namespace) -> int:
    if arguments.mode == "rules":
        sys.stdout.write(_as_json() if arguments.output_format == "json" else _as_text())
        return 0
    return _explain(arguments.explain)


def _as_text() -> str:
    rows = [
        (rule.RULE.name, rule.RULE.severity, rule.RULE.category, rule.RULE.summary) for rule in discovery.all_rules()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join("  ".join([*map(str.ljust, row[:3], widths), row[3]]).rstrip() + "\n" for row in rows)


def _as_json() -> str:
    entries = [
        {
            "name": rule.RULE.name,
            "severity": rule.RULE.severity,
            "category": rule.RULE.category,
            "summary": rule.RULE.summary,
            "reads": list(rule.RULE.reads),
            "aliases": list(rule.RULE.aliases),
            "default": rule.RULE.default,
        }
        for rule in discovery.all_rules()
    ]
    return json.dumps(entries, indent=2) + "\n"


def _explain(name: str) -> int:
    rule = discovery.find(name)
    if rule is None and name not in discovery.META_RULES:
        from difflib import get_close_matches

        hints = get_close_matches(name, discovery.rule_names(), n=1)
        hint = f"; did you mean {hints[0]}?" if hints else " (neurarch-lsp --rules lists them)"
        print(f"neurarch-lsp: no rule is called {name}{hint}", file=sys.stderr)
        return 2
    with open(discovery.page_of(rule.RULE.name if rule is not None else name), encoding="utf-8") as file:
        sys.stdout.buffer.write(file.read().encode("utf-8"))
    return 0
