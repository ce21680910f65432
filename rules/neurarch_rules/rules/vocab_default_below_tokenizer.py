from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, Site, python_file

RULE = RuleInfo(
    name="vocab-default-below-tokenizer",
    severity="warning",
    category="correctness",
    summary="The tokenizer beside the code has more entries than the config class has rows",
    reads=("python",),
    needs=("vocab_size",),
    when="tokenizer",
)


def check(context: Context) -> Iterator[Finding]:
    entries = context.analysis.folder.tokenizer_entries
    if not entries:
        return
    file = python_file(context)
    found: list[tuple[Site, int]] = []
    for owner in file.classes.values():
        found += _defaults(owner)
    if any(rows >= entries for _, rows in found):
        return
    for site, rows in found:
        if rows > 0:
            yield Finding(
                f"tokenizer.json beside this file has {entries:,} entries, but the embedding has {rows:,} rows: ids "
                f"from {rows:,} on crash when they are used; set vocab_size to {entries:,} or more",
                site.place,
                (Related(Place("", file="tokenizer.json"), f"{entries:,} entries"),),
            )


def _defaults(owner: ClassFacts) -> Iterator[tuple[Site, int]]:
    """``vocab_size: int = N`` among the fields of a class."""
    for item in owner.node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == "vocab_size":
            value = item.value
            if isinstance(value, ast.Constant) and isinstance(value.value, int) and not isinstance(value.value, bool):
                yield owner.site(item), value.value
