"""``--report``: the numbers of each file, in the order given, as a card, a list of tensors, or JSON."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from neurarch_lsp.card import sources
from neurarch_lsp.card.adapter_base import with_known_base
from neurarch_lsp.card.python_report import is_python, python_entry, python_text
from neurarch_lsp.cli.report_arguments import (
    PAGES,
    REPORT_FORMATS,
    assumptions,
    context_lengths,
    names_a_file,
    output_format,
)
from neurarch_lsp.render.report_json import Entry, entry, failed_entry
from neurarch_lsp.settings.resolve import options_of, search_paths

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_lsp.render.card_blocks import Card

USAGE_ERROR = 2
Assume = Callable[[str], "Assumptions"]
"""By the name of a file: what its card assumes."""


def run(arguments: argparse.Namespace) -> int:
    """Print or write an entry a file; 2 when a file is missing or the arguments are wrong, else 0."""
    contexts = context_lengths(arguments.context)
    form = output_format(arguments)
    if contexts is None:
        return _usage(f"--context takes positive lengths, not {arguments.context!r}")
    if form is None:
        return _usage(f"--report prints {', '.join(REPORT_FORMATS)}, not {arguments.output_format!r}")
    wrong = assumptions(arguments.assume or (), contexts, expand=arguments.expand)
    if isinstance(wrong, str):
        return _usage(wrong)
    assume = partial(_assumed, tuple(arguments.assume or ()), contexts, arguments.expand)
    python = next((path for path in arguments.paths if is_python(path)), None)
    if form == "svg" and python is not None:
        return _usage(f"svg is the drawing of a config, and {python} is Python: ask for html, markdown, text or json")
    folders = [path for path in arguments.paths if os.path.isdir(path)]
    names = [name for path in arguments.paths for name in (sources.configs_below(path) if path in folders else [path])]
    if (folders or len(arguments.paths) > 1) and arguments.output and not names_a_file(arguments.output):
        if form == "json":
            return _usage("json holds all models in one file: -o FILE.json")
        from neurarch_lsp.cli.report_folder import write_folder

        return write_folder(arguments.paths, arguments.output, form, assume)
    if len(names) > 1 and form in PAGES:
        return _usage(f"{form} is one page a model, and {len(names):,} are asked for: -o FOLDER takes a page each")
    loaded = [sources.load(name, arguments.stdin_filename) for name in names]
    for source in loaded:
        if source.error is not None:
            print(f"{source.name}: {source.error}", file=sys.stderr)
    if folders and not loaded:
        print(f"neurarch-lsp: no model configuration below {', '.join(folders)}", file=sys.stderr)
    text = (
        _json(loaded, contexts, assume, with_card=arguments.card)
        if form == "json"
        else _text(loaded, form, contexts, assume, tensors=arguments.tensors)
    )
    if arguments.output:
        try:
            with open(arguments.output, "w", encoding="utf-8", errors="replace", newline="\n") as stream:
                stream.write(text)
        except OSError as error:
            return _usage(f"{arguments.output} cannot be written: {error.strerror or error}")
    else:
        sys.stdout.write(text)
    return USAGE_ERROR if any(source.missing for source in loaded) else 0


def _json(loaded: Sequence[sources.Source], contexts: Sequence[int], assume: Assume, *, with_card: bool) -> str:
    import json

    entries: list[Entry] = []
    for source in loaded:
        if source.python:
            entries.append(python_entry(source.name, search_paths(source.name), contexts))
            continue
        if source.analysis is None:
            entries.append(failed_entry(source.name, source.error or "nothing is known"))
            continue
        entries.append(entry(source.name, with_known_base(source.analysis), contexts, assume(source.name).cache_dtype))
        if with_card:
            sections = card_of(source, assume).sections
            entries[-1]["card"] = {section.key: dict(section.data) for section in sections}
    return json.dumps(entries, indent=2) + "\n"


def _text(
    loaded: Sequence[sources.Source], form: str, contexts: Sequence[int], assume: Assume, *, tensors: bool
) -> str:
    pieces: list[str] = []
    for source in loaded:
        if source.python and form == "text":
            pieces.append("\n".join(python_text(source.name, search_paths(source.name))) + "\n")
            continue
        if source.python:
            pieces.append(render_card(card_of(source, assume), form))
        if source.analysis is None:
            continue
        if form == "text" and tensors:
            from neurarch_lsp.render.report_text import report_text

            pieces.append(report_text(source.name, source.analysis.informed, contexts, assume(source.name).cache_dtype))
        else:
            pieces.append(render_card(card_of(source, assume), form))
    return "\n".join(pieces)


def _assumed(pairs: Sequence[str], contexts: Sequence[int], expand: bool, name: str) -> Assumptions:
    """What a card of this file assumes: the settings that apply to it, and above them what the command asks for."""
    found = assumptions(pairs, contexts, expand=expand, serving=options_of(name).serving)
    assert not isinstance(found, str)  # whatever the settings say, the command's own words were read before
    return found


def card_of(source: sources.Source, assume: Assume) -> Card:
    """The card of a source that was read, with what the rules say under the settings that apply to it."""
    if source.python:
        from neurarch_lsp.card.python_card import python_card

        return python_card(source.name, search_paths(source.name))
    from neurarch_lsp.card.build import build_card
    from neurarch_rules.engine.run import check

    assert source.analysis is not None
    return build_card(
        source.name, source.analysis, check(source.analysis, options_of(source.name)), assume(source.name)
    )


def render_card(card: Card, form: str) -> str:
    if form == "html":
        from neurarch_lsp.render.card_html import card_html

        return card_html(card)
    if form == "markdown":
        from neurarch_lsp.render.card_markdown import card_markdown

        return card_markdown(card)
    if form == "svg":
        from neurarch_lsp.render.card_html import card_svg

        return card_svg(card)
    from neurarch_lsp.render.card_text import card_text

    return card_text(card)


def _usage(message: str) -> int:
    print(f"neurarch-lsp: {message}", file=sys.stderr)
    return USAGE_ERROR
