from __future__ import annotations

import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.adapter import base_file, base_tree, linear_names
from neurarch_rules.facts.words import listed, quoted
from neurarch_schemas.documents.json_value import JSONValue

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
    if not isinstance(data, dict) or targets in SPECIAL or not isinstance(targets, list | str):
        return
    if not targets:
        if data.get("target_parameters"):
            return
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
    yield from _narrowed(data, targets, names)
    missing = [
        (at, name)
        for at, name in enumerate(targets)
        if isinstance(name, str) and not any(_ends(path, name) for path in names)
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


def _narrowed(data: dict[str, JSONValue], targets: list[JSONValue], names: dict[str, str]) -> Iterator[Finding]:
    """Targets exist, but other settings leave none of them."""
    found = [path for path in names if any(isinstance(name, str) and _ends(path, name) for name in targets)]
    excluded = data.get("exclude_modules")
    if isinstance(excluded, list) and found:
        left = [path for path in found if not any(isinstance(name, str) and _ends(path, name) for name in excluded)]
        if not left:
            yield Finding(
                f"exclude_modules takes out every module that target_modules names ({listed(targets)}): peft finds "
                "nothing to adapt and refuses",
                Place("/exclude_modules"),
                (Related(Place("/target_modules"), "the same modules"),),
            )
    pattern = data.get("layers_pattern")
    if data.get("layers_to_transform") in (None, []) or not found:
        return
    if not pattern and not any(re.match(r".*?\.[^.]*\.\{\}\.", path) for path in found):
        yield Finding(
            "layers_to_transform needs the list of layers to stand inside another module, but in the base model it is "
            f"at the top ({listed(found, 1)}): peft finds nothing to adapt and refuses; adapt a model with a head",
            Place("/layers_to_transform"),
        )
    if not pattern:
        return
    lists = [part for part in (pattern if isinstance(pattern, list) else [pattern]) if isinstance(part, str)]
    known = list(dict.fromkeys(path.partition(".{}")[0].rpartition(".")[2] for path in found if ".{}" in path))
    if known and not any(part in known for part in lists):
        yield Finding(
            f"the layers of the base model are called {listed(known)}, not {listed(lists)}: peft finds nothing to "
            "adapt and refuses",
            Place("/layers_pattern"),
            (Related(Place("/layers_to_transform"), "the layers to adapt"),),
        )


def _ends(path: str, name: str) -> bool:
    return path == name or path.endswith("." + name)


def _matches(pattern: str, names: dict[str, str]) -> bool:
    """A string is a regular expression over full names; layer numbers are tried as 0 to 3."""
    try:
        compiled = re.compile(pattern[:500])
    except re.error:
        return False
    return any(compiled.fullmatch(path.replace("{}", number)) for path in names for number in ("0", "1", "2", "3"))
