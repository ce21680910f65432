"""Findings to LSP diagnostics, with ready edits in ``data`` so that quick fixes need no second run."""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from neurarch_lsp.lsp import uris
from neurarch_lsp.lsp.places import span_in
from neurarch_lsp.render.report import rule_url

if TYPE_CHECKING:
    from neurarch_lsp.lsp.client_features import ClientFeatures
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.positions import Positions
    from neurarch_rules.engine.finding import Finding, Related

SOURCE = "neurarch"
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
TAGS = {"deprecated": types.DiagnosticTag.Deprecated, "unnecessary": types.DiagnosticTag.Unnecessary}


def to_diagnostics(analysed: Analysed, positions: Positions, client: ClientFeatures) -> list[types.Diagnostic]:
    if analysed.failure is not None:
        return [_failed(analysed.failure)]
    if analysed.problems:
        return [
            types.Diagnostic(positions.range(span), message, types.DiagnosticSeverity.Error, "settings", source=SOURCE)
            for span, message in analysed.problems
        ]
    return [to_diagnostic(finding, analysed, positions, client) for finding in analysed.reported]


def _failed(kind: str) -> types.Diagnostic:
    start = types.Position(0, 0)
    return types.Diagnostic(
        types.Range(start, start),
        f"neurarch-lsp failed on this file ({kind}); please report it, the server's log has the details",
        types.DiagnosticSeverity.Error,
        "internal-error",
        source=SOURCE,
    )


def to_diagnostic(
    finding: Finding, analysed: Analysed, positions: Positions, client: ClientFeatures
) -> types.Diagnostic:
    """What the client cannot show as related information is told in the message instead."""
    assert analysed.checked is not None
    message = finding.message
    related: list[types.DiagnosticRelatedInformation] = []
    for item in finding.related:
        location = _location(item, analysed, positions)
        if location is not None and client.related_information:
            related.append(types.DiagnosticRelatedInformation(location, item.message))
        else:
            message += f"\n{item.message}"
    tags = [TAGS[tag] for tag in finding.tags if int(TAGS[tag]) in client.diagnostic_tags]
    link = rule_url(finding.rule)
    return types.Diagnostic(
        range=positions.range(span_in(finding.place, analysed.checked.document)),
        message=message,
        severity=SEVERITIES[finding.severity or "warning"],
        code=finding.rule,
        code_description=types.CodeDescription(link) if link and client.code_description else None,
        source=SOURCE,
        tags=tags or None,
        related_information=related or None,
        data=_data(finding, analysed, positions) if client.diagnostic_data else None,
    )


def _location(item: Related, analysed: Analysed, positions: Positions) -> types.Location | None:
    """Where related information stands; in a file beside the document, its first line."""
    assert analysed.checked is not None
    if item.place.file is None:
        span = span_in(item.place, analysed.checked.document)
        return types.Location(analysed.document.uri, positions.range(span))
    if analysed.document.path is None:
        return None
    path = os.path.join(os.path.dirname(analysed.document.path), item.place.file)
    start = types.Position(0, 0)
    return types.Location(uris.from_path(path), types.Range(start, start))


def _data(finding: Finding, analysed: Analysed, positions: Positions) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "pointer": finding.place.pointer,
        "version": analysed.document.version,
        "fixes": [
            {
                "title": fix.title,
                "applicability": fix.applicability,
                "edits": [
                    {"range": _plain_range(positions.range(edit.span)), "newText": edit.text} for edit in fix.edits
                ],
            }
            for fix in finding.fixes
        ],
    }


def _plain_range(value: types.Range) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": value.start.line, "character": value.start.character},
        "end": {"line": value.end.line, "character": value.end.character},
    }


def result_id(diagnostics: list[types.Diagnostic]) -> str:
    """Equal for equal content: a client that holds it is told "unchanged"."""
    digest = blake2b(digest_size=12)
    for item in diagnostics:
        digest.update(repr((item.range, item.message, item.severity, item.code, item.tags)).encode("utf-8", "replace"))
    return digest.hexdigest()
