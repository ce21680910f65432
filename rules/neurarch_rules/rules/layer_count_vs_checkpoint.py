from __future__ import annotations

import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.geometry import layers
from neurarch_rules.facts.layers import mtp_layers
from neurarch_rules.facts.places import is_written, place

RULE = RuleInfo(
    name="layer-count-vs-checkpoint",
    severity="warning",
    category="correctness",
    summary="The checkpoint beside the config has another number of layers",
    when="checkpoint",
)

LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|layer)\.(\d+)\.")
TOWERS = ("vision", "visual", "audio", "encoder.", "mtp", "resampler")


def check(context: Context) -> Iterator[Finding]:
    config, tensors = decoder_config(context), context.analysis.folder.checkpoint
    depth = None if config is None else layers(config)
    if config is None or depth is None or not tensors or depth.value <= 0 or not is_written(config, depth.key):
        return
    if config.get("is_encoder_decoder") is True:
        return
    found = [
        int(match[1])
        for tensor in tensors
        if not any(tower in tensor.name for tower in TOWERS) and (match := LAYER.search(tensor.name))
    ]
    if not found:
        return
    count = max(found) + 1
    file = next((name for name in sorted(context.analysis.folder.listing or ()) if name.endswith(".index.json")), None)
    where = (Related(Place("", file=file), f"the last layer here is {count - 1}"),)
    if count > depth.value + mtp_layers(config):
        yield Finding(
            f"{depth.key} is {depth.value}, but the checkpoint has layers up to {count - 1}: the last "
            f"{count - depth.value} are thrown away on load",
            place(config, depth.key),
            where,
        )
    elif count < depth.value and len(set(found)) == count and count > 1:
        yield Finding(
            f"{depth.key} is {depth.value}, but the checkpoint has only layers 0 to {count - 1}: the other "
            f"{depth.value - count} start from random numbers",
            place(config, depth.key),
            where,
            severity="error",
        )
