from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.remote_code import references
from neurarch_rules.facts.words import listed

RULE = RuleInfo(
    name="remote-code",
    severity="info",
    category="security",
    summary="Loading with trust_remote_code would import and run Python code",
    needs=("auto_map",),
)


def check(context: Context) -> Iterator[Finding]:
    found = list(references(context.analysis))
    if not found:
        return
    files = dict.fromkeys(
        f"{reference.module}.py" + (f" of {reference.repository}" if reference.repository else "")
        for reference in found
    )
    elsewhere = sorted({reference.repository for reference in found if reference.repository})
    message = f"with trust_remote_code, loading imports and runs {listed(files)}"
    if elsewhere:
        message += (
            f": code of another repository ({', '.join(elsewhere)}), which can change under you; pin code_revision"
        )
    config = context.analysis.config
    if config is not None and config.is_native:
        message += f"; transformers has its own {config.model_type}, which needs none of it"
    yield Finding(message, Place("/auto_map", on="key"))
