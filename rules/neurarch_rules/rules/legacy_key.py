from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.fixes import rename_key
from neurarch_rules.facts.places import configs, written
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="legacy-key",
    severity="hint",
    category="hygiene",
    summary="A key that newer transformers releases spell differently and still read",
    needs=("torch_dtype",),
)

SINCE = ((4, 56), None)
"""transformers reads and writes ``dtype`` since 4.56. A hint is not worth reading requirement files for, so only the
setting ``transformers-version`` silences it."""


def check(context: Context) -> Iterator[Finding]:
    stated = context.options.transformers_version
    if stated is not None and versions.excludes(context, SINCE):
        return
    for config in configs(context):
        data = written(context.analysis, config)
        if "torch_dtype" in data and "dtype" not in data and (config.is_native or not config.pointer):
            pointer = join_pointer(config.pointer, "torch_dtype")
            yield Finding(
                "torch_dtype is called dtype since transformers 4.56; both are read",
                Place(pointer, on="key"),
                fixes=rename_key(context.analysis, pointer, "dtype", "rename to dtype", "unsafe"),
                tags=("deprecated",),
            )
