"""What may stand on the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from neurarch_lsp.cli.report_arguments import REPORT_FORMATS, add_report_options

DESCRIPTION = """\
Language server and linter for neural-network model definitions.

  neurarch-lsp                     language server on stdin and stdout
  neurarch-lsp --check PATH...     lint files and folders
  neurarch-lsp --report FILE...    parameters, KV cache and tensors of a model
  neurarch-lsp --rules             the rules
  neurarch-lsp --explain RULE      the page of one rule

Exit status: --check 0 clean, 1 findings at or above --fail-on, 2 wrong usage or an internal error; --report and
--compare 0 when every input could be read (one that describes no model says so), 2 when one is missing, cannot be
read, or cannot be given in the format asked for, and for --compare when there is nothing to compare.
"""
CHECK_FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")
SEVERITIES = ("error", "warning", "info", "hint")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments with ``mode``: check, report, rules, explain or server. Usage errors exit with status 2."""
    parser = build_parser()
    parsed = parser.parse_args(arguments)
    parsed.mode = _mode(parsed)
    if parsed.mode in ("check", "report", "compare") and not parsed.paths:
        parser.error(f"--{parsed.mode} needs at least one path (- is standard input)")
    if parsed.mode == "server" and parsed.paths:
        parser.error("paths are for --check or --report")
    if parsed.mode == "rules" and parsed.paths:
        parser.error("--rules takes no path")
    if parsed.diff and parsed.fix:
        parser.error("--diff shows what --fix would write: give one of them")
    return parsed


def _mode(parsed: argparse.Namespace) -> str:
    if parsed.check:
        return "check"
    if parsed.report:
        return "report"
    if parsed.compare:
        return "compare"
    if parsed.rules:
        return "rules"
    if parsed.print_schema is not None:
        return "print-schema"
    return "explain" if parsed.explain is not None else "server"


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="neurarch-lsp",
        description=DESCRIPTION,
        formatter_class=_formatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; - is standard input")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    modes = parser.add_argument_group("what to do").add_mutually_exclusive_group()
    modes.add_argument("--check", action="store_true", help="lint files and folders")
    modes.add_argument("--report", action="store_true", help="print the numbers of models")
    modes.add_argument("--compare", action="store_true", help="two models side by side: files, cached models, REV:FILE")
    modes.add_argument("--rules", action="store_true", help="list the rules")
    modes.add_argument("--explain", metavar="RULE", help="print the page of one rule")
    modes.add_argument(
        "--print-schema", metavar="MODEL_TYPE", help="print the JSON Schema of a model type's config.json"
    )
    modes.add_argument("--stdio", action="store_true", help="language server on stdin and stdout (the default)")
    modes.add_argument("--tcp", metavar="HOST:PORT", help="language server on a TCP socket, for debugging")
    parser.add_argument(
        "--output-format",
        metavar="FORMAT",
        default=None,
        help=f"--check: {', '.join(CHECK_FORMATS)}; --report: {', '.join(REPORT_FORMATS)}",
    )
    parser.add_argument("--config", metavar="FILE", help="settings file for all paths instead of the nearest one")
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name of the file read from standard input")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour the output")
    _check_options(parser.add_argument_group("with --check"))
    add_report_options(parser.add_argument_group("with --report"))
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Its width is given: argparse asks shutil otherwise, and for every option, which costs start-up time."""
    try:
        width = int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns
    except (ValueError, OSError):
        width = 100
    return argparse.RawDescriptionHelpFormatter(prog, width=max(width - 2, 40))


def _check_options(check: argparse._ArgumentGroup) -> None:
    names = "comma-separated rules or categories"
    check.add_argument("--fix", action="store_true", help="apply safe fixes")
    check.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: apply unsafe fixes too")
    check.add_argument("--diff", action="store_true", help="show what --fix would change and write nothing")
    check.add_argument("--select", metavar="RULES", action="append", help=f"run only these: {names}, or all")
    check.add_argument("--extend-select", metavar="RULES", action="append", help=f"run these besides: {names}")
    check.add_argument("--ignore", metavar="RULES", action="append", help=f"do not run these: {names}")
    check.add_argument(
        "--fail-on",
        choices=(*SEVERITIES, "never"),
        default="error",
        help="exit 1 from this severity on (default: error)",
    )
    check.add_argument("--quiet", "-q", action="store_true", help="no summary line")
    check.add_argument("--baseline", metavar="FILE", help="leave out the findings this file holds")
    check.add_argument("--write-baseline", metavar="FILE", help="write all findings to FILE and exit 0")
    check.add_argument(
        "--add-ignores",
        metavar="REASON",
        nargs="?",
        const="",
        help="write a suppression entry for every finding into the settings file",
    )
    check.add_argument("--statistics", action="store_true", help="count findings per rule instead of listing them")
    check.add_argument("--show-settings", action="store_true", help="print the settings of each file and lint nothing")
    check.add_argument("--show-files", action="store_true", help="print the files that would be linted")
    check.add_argument("--show-timing", action="store_true", help="also print the time each rule took")
    check.add_argument("--jobs", "-j", metavar="N", type=int, default=1, help="processes (0: one for each processor)")
    check.add_argument("--no-cache", action="store_true", help="do not read or write cached findings")
    check.add_argument("--cache-dir", metavar="FOLDER", help="where findings are cached")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from neurarch_schemas import __version__

        parser.exit(0, f"neurarch-lsp {__version__}\n")
