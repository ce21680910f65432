"""The command ``neurarch-lsp``: a language server by default, a linter with --check, a calculator with --report."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

CLOSED_PIPE = 141
"""What a shell shows of a program that SIGPIPE ended: 128 + 13."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command. Returns the exit status: 0 clean, 1 findings from --fail-on up, 2 usage or internal error."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except BrokenPipeError:
        # Whoever read our output has enough. What is still buffered must not fail when Python closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE


def _run(arguments: list[str]) -> int:
    from neurarch_lsp.cli.arguments import parse

    try:
        parsed = parse(arguments)
        if parsed.mode != "server":
            _print_anything()
            _collect_rarely()
            return _command(parsed)
    finally:
        sys.stdout.flush()
    from neurarch_lsp.lsp import start

    return start.run(parsed)


def _command(parsed: Namespace) -> int:
    mode: str = parsed.mode
    if mode == "check":
        from neurarch_lsp.cli import check

        return check.run(parsed)
    if mode == "report":
        from neurarch_lsp.cli import report

        return report.run(parsed)
    if mode == "compare":
        from neurarch_lsp.cli import compare

        return compare.run(parsed)
    if mode in ("rules", "explain"):
        from neurarch_lsp.cli import explain

        return explain.run(parsed)
    from neurarch_lsp.cli import print_schema

    return print_schema.run(parsed)


def _print_anything() -> None:
    """A terminal's encoding, or a lone surrogate in a user's file, must not end a run: such characters are escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _collect_rarely() -> None:
    """A command makes many values and hardly a cycle: looking for these took a sixth of its time."""
    import gc

    gc.set_threshold(50_000, 20, 50)


if __name__ == "__main__":
    sys.exit(main())
