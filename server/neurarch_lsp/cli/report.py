"""``--report``: the numbers of each file, in the order given."""

from __future__ import annotations

import argparse
import os
import sys

from neurarch_lsp.render.report_json import Entry, entry, failed_entry
from neurarch_lsp.render.report_text import report_text
from neurarch_rules.engine.analyse import analyse_text
from neurarch_schemas.analysis import Analysis

USAGE_ERROR = 2


def run(arguments: argparse.Namespace) -> int:
    """Print an entry a file; 2 when a file is missing or the arguments are wrong, else 0."""
    contexts = context_lengths(arguments.context)
    if contexts is None:
        print(f"neurarch-lsp: --context takes positive lengths, not {arguments.context!r}", file=sys.stderr)
        return USAGE_ERROR
    output = arguments.output_format or "text"
    if output not in ("text", "json"):
        print(f"neurarch-lsp: --report prints text or json, not {output!r}", file=sys.stderr)
        return USAGE_ERROR
    status = 0
    entries: list[Entry] = []
    for file in arguments.paths:
        found = load(file, arguments.stdin_filename)
        if isinstance(found, str):
            status = USAGE_ERROR if not _readable(file) else status
            print(f"{file}: {found}", file=sys.stderr)
            entries.append(failed_entry(file, found))
        elif output == "json":
            entries.append(entry(file, found, contexts))
        else:
            sys.stdout.write(report_text(file, found, contexts))
    if output == "json":
        import json

        sys.stdout.write(json.dumps(entries, indent=2) + "\n")
    return status


def load(file: str, stdin_filename: str | None = None) -> Analysis | str:
    """What is known about a file ("-" is standard input), or why nothing is."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else _read(file)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    path = (stdin_filename or "config.json") if file == "-" else file
    analysis = analyse_text(path, data.decode("utf-8", errors="replace"))
    if analysis is None:
        return "not a model configuration"
    if analysis.config is None:
        return "the file describes no model"
    return analysis


def context_lengths(text: str | None) -> tuple[int, ...] | None:
    """``--context``: comma-separated positive integers; empty without one, None when malformed."""
    if text is None:
        return ()
    pieces = [piece.strip().replace("_", "") for piece in text.split(",")]
    if not all(piece.isascii() and piece.isdecimal() and int(piece) > 0 for piece in pieces):
        return None
    return tuple(int(piece) for piece in pieces)


def _read(file: str) -> bytes:
    with open(file, "rb") as stream:
        return stream.read()


def _readable(file: str) -> bool:
    return file == "-" or os.path.isfile(file)
