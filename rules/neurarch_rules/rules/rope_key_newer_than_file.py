from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.places import configs, number, place

RULE = RuleInfo(
    name="rope-key-newer-than-file",
    severity="info",
    category="correctness",
    summary="A RoPE base that the release which wrote the file did not know",
    aliases=("rope-version",),
    needs=("rope_theta",),
)

FIRST_READ = {"llama": (4, 33), "falcon": (4, 34)}
"""The release from which the family reads rope_theta."""
BEFORE = 10_000.0


def check(context: Context) -> Iterator[Finding]:
    saved = versions.saved_by(context)
    if saved is None:
        return
    for config in configs(context):
        first = FIRST_READ.get(config.model_type)
        theta = number(config.get("rope_theta"))
        setting = config.setting("rope_theta")
        if first is None or theta is None or setting is None or setting.pointer is None or theta == BEFORE:
            continue
        if saved[:2] < first:
            by = ".".join(map(str, saved))
            yield Finding(
                f"rope_theta is {theta:,.0f}, but the file says transformers {by} wrote it, and {config.model_type} "
                "reads that "
                f"key since {'.'.join(map(str, first))}: if the weights come from that release they were trained "
                "with 10,000",
                place(config, "rope_theta"),
                (Related(Place("/transformers_version"), f"transformers_version is {by}"),),
            )
