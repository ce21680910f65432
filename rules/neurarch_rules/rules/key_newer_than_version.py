from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.places import configs, written
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="key-newer-than-version",
    severity="warning",
    category="correctness",
    summary="A key that the transformers release named by the workspace does not read",
    needs=("rope_parameters", "dtype", "layer_types"),
)

SINCE: dict[str, tuple[versions.Version, str]] = {
    "rope_parameters": ((5, 0), "RoPE is built with its defaults"),
    "dtype": ((4, 56), "weights are loaded as float32"),
}
"""Key -> first release that reads it, and what happens before."""
OLDER_SPELLING = {"rope_parameters": ("rope_scaling", "rope_theta"), "dtype": ("torch_dtype",)}


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not config.is_native:
            continue
        data = written(context.analysis, config)
        for key, (first, effect) in SINCE.items():
            if data.get(key) is None or any(data.get(old) is not None for old in OLDER_SPELLING[key]):
                continue
            if versions.excludes(context, (first, None)):
                stated, release = versions.stated(context), ".".join(map(str, first))
                yield Finding(
                    f"{key} is read since transformers {release}, and the workspace names {stated}: {effect}; write "
                    f"{' and '.join(OLDER_SPELLING[key])} as well",
                    Place(join_pointer(config.pointer, key), on="key"),
                )
