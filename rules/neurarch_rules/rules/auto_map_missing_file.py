from __future__ import annotations

import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import remove
from neurarch_rules.facts.remote_code import references
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.weights import is_repository
from neurarch_rules.facts.words import listed, quoted
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="auto-map-missing-file",
    severity="error",
    category="correctness",
    summary="auto_map names a Python file that is not beside the config, or no class in it",
    reads=("config", "adapter_config"),
    needs=("auto_map",),
)


def check(context: Context) -> Iterator[Finding]:
    yield from _malformed(context)
    yield from _undefined(context)
    folder, config = context.analysis.folder, context.analysis.config
    if folder.listing is None or not is_repository(folder):
        return
    names = set(folder.listing)
    missing = sorted(
        {f"{reference.module}.py" for reference in references(context.analysis) if reference.repository is None}
    )
    missing = [name for name in missing if name not in names]
    if not missing:
        return
    message = f"auto_map names {listed(missing)}, which {'is' if len(missing) == 1 else 'are'} not beside the config"
    fixes: tuple[Fix, ...] = ()
    if config is not None and config.is_native:
        message += f": loading with trust_remote_code fails, and {config.model_type} is part of transformers anyway"
        fixes = remove(context.analysis, "/auto_map", "remove auto_map", "unsafe")
    else:
        message += ": the model cannot be loaded from this folder"
    yield Finding(message, Place("/auto_map", on="key"), fixes=fixes, severity="warning")


def _malformed(context: Context) -> Iterator[Finding]:
    """transformers splits each entry at its one dot."""
    data = context.analysis.document.data
    entries = data.get("auto_map") if isinstance(data, dict) else None
    for name, value in entries.items() if isinstance(entries, dict) else ():
        for target in value if isinstance(value, list) else [value]:
            if isinstance(target, str) and target.rpartition("--")[2].count(".") != 1:
                yield Finding(
                    f"{quoted(target)} must name a file and a class in it, as in modeling_my.MyModel: transformers "
                    "cannot take it apart",
                    Place(join_pointer("/auto_map", name)),
                )


DEFINES_UNSEEN = re.compile(r"import +\*|globals\(|setattr\(|__getattr__|exec\(")
"""Code that may define names which do not stand in its text."""


def _undefined(context: Context) -> Iterator[Finding]:
    """Classes whose names the file never mentions."""
    code, config = context.analysis.folder.code, context.analysis.config
    by_class: dict[tuple[str, str], list[str]] = {}
    for reference in references(context.analysis):
        if reference.repository is None and reference.name.isidentifier():
            by_class.setdefault((f"{reference.module}.py", reference.name), []).append(reference.auto_class)
    for (file, name), autos in by_class.items():
        text = code.get(file, "")
        if not text.strip() or DEFINES_UNSEEN.search(text) or re.search(rf"\b{name}\b", text):
            continue
        classes = re.findall(r"^class +(\w+)", text, re.MULTILINE)
        meant = closest(name, classes)
        native = config is not None and config.is_native
        yield Finding(
            f"{file} defines no {name}"
            + (f" (did you mean {meant}?)" if meant else f" (its classes are {listed(classes, 4)})" if classes else "")
            + f": {listed(autos)} cannot load it"
            + (" with trust_remote_code" if native else ""),
            Place(join_pointer("/auto_map", autos[0])),
            severity="warning" if native else "error",
        )
