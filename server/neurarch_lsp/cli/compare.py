"""``--compare A [B]``: two models side by side; without B the predecessor, else the most similar known model."""

from __future__ import annotations

import argparse
import sys

from neurarch_lsp.card import sources
from neurarch_lsp.cli.report import render_card
from neurarch_lsp.cli.report_arguments import output_format

USAGE_ERROR = 2


def run(arguments: argparse.Namespace) -> int:
    form = output_format(arguments)
    if form not in ("text", "json", "markdown", "html"):
        print("neurarch-lsp: --compare prints text, json, markdown or html", file=sys.stderr)
        return USAGE_ERROR
    if len(arguments.paths) not in (1, 2):
        print("neurarch-lsp: --compare takes one or two models", file=sys.stderr)
        return USAGE_ERROR
    loaded = [sources.load_revision(path) for path in arguments.paths]
    for source in loaded:
        if source.python and not source.missing:
            print(
                f"{source.name}: --compare takes configs; --report counts the classes of Python code", file=sys.stderr
            )
            return USAGE_ERROR
        if source.analysis is None:
            print(f"{source.name}: {source.error}", file=sys.stderr)
            return USAGE_ERROR
    from neurarch_lsp.card.compare import compare

    a = loaded[0]
    assert a.analysis is not None
    if len(loaded) == 2:
        other, name = loaded[1].analysis, loaded[1].name
    else:
        from neurarch_lsp.card.similar import counterpart

        found = counterpart(a.analysis)
        if found is None:
            print("neurarch-lsp: nothing to compare with: the structure is not known", file=sys.stderr)
            return USAGE_ERROR
        other, name = found.analysis(), found.name
    assert other is not None
    card = compare(a.name, a.analysis, name, other)
    if form == "json":
        import json

        text = json.dumps({section.key: dict(section.data) for section in card.sections}, indent=2) + "\n"
    else:
        text = render_card(card, form)
    if arguments.output:
        try:
            with open(arguments.output, "w", encoding="utf-8", errors="replace", newline="\n") as stream:
                stream.write(text)
        except OSError as error:
            print(f"neurarch-lsp: {arguments.output} cannot be written: {error.strerror or error}", file=sys.stderr)
            return USAGE_ERROR
    else:
        sys.stdout.write(text)
    return 0
