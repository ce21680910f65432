from __future__ import annotations

import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.adapter import base_file, base_tree, linear_names
from neurarch_rules.facts.words import listed, quoted

RULE = RuleInfo(
    name="lora-target-missing",
    severity="error",
    category="correctness",
    summary="target_modules names modules the base model does not have",
    reads=("adapter_config",),
)

SPECIAL = ("all-linear",)


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    targets = data.get("target_modules") if isinstance(data, dict) else None
    if targets in SPECIAL or not isinstance(targets, list | str):
        return
    if not targets:
        yield Finding("target_modules is empty: no module gets an adapter", Place("/target_modules"))
        return
    base = base_file(context.analysis)
    tree = None if base is None else base_tree(base[1])
    if base is None or tree is None:
        return
    names = linear_names(tree)
    inner = [name for name in dict.fromkeys(names.values()) if not name.isdigit() and "embed" not in name]
    file, config = base
    where = (Related(Place("/model_type", file=file), f"the base is a {config.get('model_type')}"),)
    if isinstance(targets, str):
        if not _matches(targets, names):
            yield Finding(
                f"the pattern {quoted(targets)} matches no module of the base model; its linear layers are "
                f"{listed(inner, 12)}",
                Place("/target_modules"),
                where,
            )
        return
    missing = [
        (at, name)
        for at, name in enumerate(targets)
        if isinstance(name, str) and not any(path == name or path.endswith("." + name) for path in _spelled(names))
    ]
    if len(missing) == len(targets):
        yield Finding(
            f"the base model has no {listed([name for _, name in missing])}: peft finds nothing to adapt and "
            "refuses; its linear "
            f"layers are {listed(inner, 12)}",
            Place("/target_modules"),
            where,
        )
    else:
        for at, name in missing:
            yield Finding(
                f"the base model has no {name}: that entry is skipped; its linear layers are {listed(inner, 12)}",
                Place(f"/target_modules/{at}"),
                where,
                severity="warning",
            )


def _spelled(names: dict[str, str]) -> list[str]:
    return list(names)


def _matches(pattern: str, names: dict[str, str]) -> bool:
    """A string is a regular expression over full names; layer numbers are tried as 0 to 3."""
    try:
        compiled = re.compile(pattern[:500])
    except re.error:
        return False
    return any(compiled.fullmatch(path.replace("{}", number)) for path in names for number in ("0", "1", "2", "3"))
