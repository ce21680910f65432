"""``--report PATH... -o FOLDER``: a card a file, and an index of them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from neurarch_lsp.card import sources
from neurarch_lsp.cli.report import USAGE_ERROR, card_of, render_card
from neurarch_lsp.render.card_html import style
from neurarch_schemas.accounting.quantities import binary_bytes, count

if TYPE_CHECKING:
    from neurarch_lsp.cli.report import Assume

NUMBER = ' class="n"'
NUMERIC = (2, 3, 4)
ENDINGS = {"html": ".html", "markdown": ".md", "svg": ".svg", "text": ".txt"}


def write_folder(paths: Sequence[str], target: str, form: str, assume: Assume) -> int:
    """2 when an input is missing, else 0. Files that describe no model are left out."""
    os.makedirs(target, exist_ok=True)
    rows: list[tuple[str, ...]] = []
    missing = False
    used: set[str] = set()
    for path in paths:
        for name in sources.configs_below(path) if os.path.isdir(path) else [path]:
            source = sources.load(name)
            if source.analysis is None and (source.missing or not source.python):
                missing |= source.missing
                print(f"{name}: {source.error}", file=sys.stderr)
                continue
            card = card_of(source, assume)
            place = "" if source.python else os.path.relpath(name, path) if os.path.isdir(path) else name
            file = _file_name(place, card.title, used) + ENDINGS[form]
            _write(os.path.join(target, file), render_card(card, form))
            if source.analysis is None:
                rows.append((file, card.title, "Python", "", "", ""))
                continue
            counted, cache = source.analysis.parameters, source.analysis.kv_cache
            rows.append(
                (
                    file,
                    card.title,
                    card.subtitle,
                    count(counted.total) if counted else "not known",
                    count(counted.active) if counted else "",
                    binary_bytes(2 * cache.per_token) if cache else "",
                )
            )
    _write(os.path.join(target, "index.html" if form == "html" else "index.md"), _index(rows, form))
    return USAGE_ERROR if missing else 0


def _file_name(path: str, title: str, used: set[str]) -> str:
    stem = re.sub(r"[^\w.-]+", "-", os.path.dirname(path) or title).strip("-.") or "model"
    name, number = stem, 2
    while name in used:
        name, number = f"{stem}-{number}", number + 1
    used.add(name)
    return name


def _index(rows: Sequence[tuple[str, ...]], form: str) -> str:
    header = ("model", "type", "parameters", "active", "cache per token, 2 bytes")
    if form != "html":
        lines = ["| " + " | ".join(header) + " |", "|:--|:--|--:|--:|--:|"]
        lines += [f"| [{title}]({file}) | {' | '.join(rest)} |" for file, title, *rest in rows]
        return "\n".join(lines) + "\n"
    cells = "".join(
        f'<tr><td><a href="{escape(file, quote=True)}">{escape(title)}</a></td>'
        + "".join(
            f"<td{NUMBER if column in NUMERIC else ''}>{escape(cell)}</td>" for column, cell in enumerate(rest, 1)
        )
        + "</tr>"
        for file, title, *rest in rows
    )
    heads = "".join(
        f'<th scope="col"{NUMBER if column in NUMERIC else ""}>{escape(name)}</th>'
        for column, name in enumerate(header)
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Models</title>'
        f"<style>{style()}</style></head><body><main><h1>{len(rows)} models</h1>"
        f'<div class="scroll" tabindex="0"><table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table></div>'
        "</main></body></html>\n"
    )


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="replace", newline="\n") as stream:
        stream.write(text)
