from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.quantization import NOT_CONVERTED, quantization
from neurarch_rules.facts.words import listed, quoted

RULE = RuleInfo(
    name="quant-names-match-nothing",
    severity="warning",
    category="correctness",
    summary="Names of modules to leave unquantized that match no module of the model",
    aliases=("quant-ignore-names",),
    needs=("quantization_config", "compression_config"),
)

HEADS = frozenset(("lm_head", "head", "output", "embed_out", "score", "classifier", "proj_out"))
MOST = 400
"""Longer lists name every module one by one and come from a tool."""


def check(context: Context) -> Iterator[Finding]:
    block = quantization(context.analysis)
    if block is None:
        return
    for key in NOT_CONVERTED:
        entries = block.values.get(key)
        if not isinstance(entries, list) or not 0 < len(entries) <= MOST:
            continue
        named = [(at, entry) for at, entry in enumerate(entries) if isinstance(entry, str) and entry not in HEADS]
        if not named:
            continue
        paths = [visit.path for visit in context.analysis.visits]
        if not paths:
            return
        known = _Known(paths)
        missing = [(at, entry) for at, entry in named if not _is_elsewhere(entry, known)]
        if not missing or any(_could_match(entry, known) for _, entry in missing):
            continue
        examples = [path for path in known.examples if path][:3]
        shown = listed([quoted(entry) for _, entry in missing], 4)
        yield Finding(
            f"no module of this model is called {shown}, so {key} leaves nothing but the head unquantized; module "
            "names here "
            f"look like {listed(examples)}",
            block.place(key),
            tuple(Related(block.place(key, at), "matches no module") for at, _ in missing[:4]),
        )


class _Known:
    """Pairs of neighbouring name parts, and single parts, of all module paths."""

    def __init__(self, paths: list[str]) -> None:
        self.examples = [path.replace("{}", "0") for path in paths if path.count(".") >= 3][:3]
        split = {tuple(part for part in path.split(".") if part != "{}") for path in paths}
        self.parts = {part for parts in split for part in parts}
        self.pairs = {pair for parts in split for pair in pairwise(parts)}


TOWERS = ("vision", "visual", "audio", "image", "projector", "mtp", "nextn", "eagle", "speech", "talker")


def _is_elsewhere(entry: str, known: _Known) -> bool:
    """The entry is about a tower or draft layers that this config does not build; the checkpoint may hold them."""
    return any(tower in entry.lower() and not any(tower in part for part in known.parts) for tower in TOWERS)


WRAPPERS = frozenset(
    ("model", "language_model", "transformer", "text_model", "module", "thinker", "llm", "backbone", "base_model")
)


def _could_match(entry: str, known: _Known) -> bool:
    """Whether the entry, read generously, names something.

    Wrappers around the layers differ between releases and do not count, but parts in an order that no path has do.
    """
    if entry.startswith("re:"):
        return any(part in known.parts for part in re.findall(r"[A-Za-z_]{3,}", entry))
    parts = [part.strip("*") for part in re.split(r"[.\s]+", entry)]
    parts = [part for part in parts if part and not part.isdigit() and not re.fullmatch(r"[\d\[\]*?-]+", part)]
    if not parts:
        return True
    if any(part in known.parts for part in parts[-1:]) and len(parts) == 1:
        return True
    kept = [part for part in parts if part not in WRAPPERS]
    if not kept:
        return True
    if any(later in WRAPPERS for later in parts[parts.index(kept[0]) + 1 :]):
        return False
    if len(kept) == 1:
        return any(part.startswith(kept[0]) for part in known.parts)
    return all(pair in known.pairs or _starts(pair, known) for pair in pairwise(kept))


def _starts(pair: tuple[str, str], known: _Known) -> bool:
    """The second part may be cut short by a wildcard."""
    return any(first == pair[0] and second.startswith(pair[1]) for first, second in known.pairs)
