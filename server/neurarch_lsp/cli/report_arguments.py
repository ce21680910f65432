"""Options of ``--report`` and ``--compare``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_rules.engine.options import Serving

REPORT_FORMATS = ("text", "json", "markdown", "html", "svg")
PAGES = ("html", "svg")
"""Formats of which one file holds one model; the others may hold several, one behind the other."""
SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json", ".svg": "svg", ".txt": "text"}


def add_report_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--context", metavar="N,N,...", help="lengths in tokens to size the KV cache for")
    group.add_argument("--tensors", action="store_true", help="text: list every tensor instead of the card")
    group.add_argument("--card", action="store_true", help="json: add what the card says, section by section")
    group.add_argument("--expand", action="store_true", help="list every layer of the structure by itself")
    group.add_argument(
        "--assume",
        metavar="KEY=VALUE",
        action="append",
        help="an assumption of the card: batch, gpu, gpus, epochs, samples, training-batch, length, utilization, ...",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write there; the ending chooses the format (.html, .md, .txt, .json, .svg), "
        "and what has none of these is a folder that takes a card a model and an index",
    )


def context_lengths(text: str | None) -> tuple[int, ...] | None:
    """``--context``: comma-separated positive integers; empty without one, None when malformed."""
    if text is None:
        return ()
    pieces = [piece.strip().replace("_", "") for piece in text.split(",")]
    if not all(piece.isascii() and piece.isdecimal() and int(piece) > 0 for piece in pieces):
        return None
    return tuple(int(piece) for piece in pieces)


def assumptions(
    pairs: Sequence[str], contexts: Sequence[int], *, expand: bool, serving: Serving | None = None
) -> Assumptions | str:
    """The assumptions of a card: what is asked for, above what settings say; or what is wrong with how it was asked."""
    from neurarch_lsp.card.assumptions import Assumptions, from_settings
    from neurarch_schemas.accounting.hardware import devices, find_device
    from neurarch_schemas.accounting.training import find_recipe, recipes
    from neurarch_schemas.record import replace

    base = Assumptions() if serving is None else from_settings(serving)
    found = replace(base, context=contexts[0] if contexts else None, expand=expand)
    kinds = Assumptions.__annotations__.items()
    known = {name: kind for name, kind in kinds if name != "expand"}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        name = key.strip().replace("-", "_")
        if not equals or name not in known:
            return f"--assume {pair}: the keys are {', '.join(sorted(known)).replace('_', '-')}"
        parsed = _levels(value, found) if name == "cache_levels" else _parse(value.strip(), known[name])
        if parsed is None and name == "cache_levels":
            return (
                f"--assume {pair}: three rising numbers of KiB are asked for, where Moderate, High and Very high begin"
            )
        if parsed is None:
            return (
                f"--assume {pair}: {value!r} is not a positive number"
                if "str" not in known[name]
                else f"--assume {pair}: empty"
            )
        changed: dict[str, Any] = {name: parsed}
        found = replace(found, **changed)
    if find_device(found.gpu) is None:
        return f"the GPU {found.gpu!r} is not known; known are {', '.join(device.name for device in devices())}"
    if find_recipe(found.recipe) is None:
        return f"the recipe {found.recipe!r} is not known; known are {', '.join(recipe.name for recipe in recipes())}"
    return found


def _levels(value: str, found: Assumptions) -> tuple[tuple[str, int], ...] | None:
    """ "64,192,512": the KiB a token from which each level but the lowest begins."""
    starts = context_lengths(value) or ()
    names = [name for name, _ in found.cache_levels]
    if len(starts) != len(names) - 1 or sorted(set(starts)) != list(starts):
        return None
    return tuple(zip(names, (0, *starts), strict=True))


def _parse(value: str, kind: str) -> int | float | str | None:
    if "str" in kind:
        return value or None
    try:
        number = float(value) if "float" in kind else int(value.replace("_", ""))
    except ValueError:
        return None
    return number if number > 0 and number < float("inf") else None


def names_a_file(target: str) -> bool:
    """Whether ``-o`` names a file by its ending; a folder that exists is one whatever its name."""
    return os.path.splitext(target)[1].lower() in SUFFIXES and not os.path.isdir(target)


def output_format(arguments: argparse.Namespace) -> str | None:
    """The format asked for by name or by the ending of ``-o``; None when neither says a known one."""
    if arguments.output_format is not None:
        return arguments.output_format if arguments.output_format in REPORT_FORMATS else None
    target = arguments.output
    if target is None:
        return "text"
    return SUFFIXES.get(os.path.splitext(target)[1].lower(), "html")
