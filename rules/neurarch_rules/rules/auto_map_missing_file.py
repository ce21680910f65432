from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import remove
from neurarch_rules.facts.remote_code import references
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
