from __future__ import annotations

from collections.abc import Iterator, Mapping

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import versions
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.fixes import remove
from neurarch_rules.facts.words import listed

RULE = RuleInfo(
    name="adapter-newer-peft-keys",
    severity="info",
    category="hygiene",
    summary="An adapter config in an old shape with keys that old peft releases refuse",
    reads=("adapter_config",),
    aliases=("lora-version-key",),
)

FORWARD_COMPATIBLE = (0, 14)
"""From here on peft drops keys it does not know."""


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if not isinstance(data, dict):
        return
    releases: dict[str, str] = facts("adapter_keys")["since"]
    since = {key: versions.parse(version) or () for key, version in releases.items()}
    idle: tuple[object, ...] = (None, False, {}, [])
    newer = [key for key in data if since.get(key, ()) >= FORWARD_COMPATIBLE and data[key] in idle]
    if not newer or not _concerns(context, data, since):
        return
    first = newer[0]
    message = (
        f"{listed(newer)} came with peft {releases[first]} or later: peft before 0.14 refuses the file; none of them "
        "is used here, so they can go"
    )
    others = tuple(Related(Place(f"/{key}", on="key"), f"since peft {releases[key]}") for key in newer[1:])
    fixes = remove(context.analysis, f"/{first}", f"remove {first}", "unsafe")
    yield Finding(message, Place(f"/{first}", on="key"), others, fixes)


def _concerns(context: Context, data: Mapping[str, object], since: Mapping[str, tuple[int, ...]]) -> bool:
    """An old peft is named beside the file, or an old one wrote it and something newer added to it.

    A release writes all its keys, those of the releases before it included. A file with none of the keys that came
    between 0.7 and 0.13 has the shape of an older one, whatever was added to it.
    """
    named = context.analysis.folder.requirements.get("peft")
    if named is not None:
        found = versions.bounds(named)
        return found is not None and found[1] is not None and found[1] <= FORWARD_COMPATIBLE
    if "peft_version" in data:
        return False
    return not any((0, 7) <= since.get(key, ()) < FORWARD_COMPATIBLE for key in data)
