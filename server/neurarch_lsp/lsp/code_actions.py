"""Findings to code actions: quick fixes, all fixes of a rule or of the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from neurarch_lsp.features import suppression
from neurarch_lsp.lsp import suppress_edits
from neurarch_lsp.lsp.diagnostics import to_diagnostic
from neurarch_lsp.lsp.places import span_in
from neurarch_lsp.lsp.positions import positions_of
from neurarch_lsp.lsp.requests import off_loop
from neurarch_lsp.lsp.workspace_edits import document_edit
from neurarch_rules.engine.finding import Applicability, Finding, Fix
from neurarch_schemas.documents.document import TextEdit

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.server import NeurarchServer
    from neurarch_schemas.documents.document import Span

MAX_COMPARED = 4_000_000
"""Pairs of lines compared to find the smallest edits."""

FIX_ALL = "source.fixAll.neurarch"
SUFFIX: dict[Applicability, str] = {
    "safe": "",
    "unsafe": " (may change what the model computes)",
    "display": " (suggestion)",
}


Action = types.CodeAction | types.Command


def actions(server: NeurarchServer, analysed: Analysed, params: types.CodeActionParams) -> list[Action]:
    """The actions for a range; ``context.only`` names the kinds (and their sub-kinds) the client wants.

    For a client that does not resolve edits later, all of them are computed here, which may take a while.
    """
    return list(_actions(server, analysed, params))


def _actions(server: NeurarchServer, analysed: Analysed, params: types.CodeActionParams) -> Iterator[Action]:
    checked = analysed.checked
    if checked is None:
        return
    wanted = span_of_range(server, analysed, params.range)
    if _asked(types.CodeActionKind.QuickFix.value, params.context):
        rules: set[str] = set()
        for finding in analysed.findings:
            if _touches(span_in(finding.place, checked.document), wanted):
                yield from _quick_fixes(server, analysed, finding, params)
                yield from _suppress(server, analysed, finding, params)
                if finding.rule not in rules:
                    rules.add(finding.rule)
                    yield from _about_rule(server, analysed, finding, params)
    if _asked(FIX_ALL, params.context) and _has_safe_fix(analysed):
        yield _fix_all(server, analysed)


def span_of_range(server: NeurarchServer, analysed: Analysed, range_: types.Range) -> Span:
    return positions_of(analysed.document, server.documents.encoding).span(range_)


def _asked(kind: str, context: types.CodeActionContext) -> bool:
    """Without ``only`` everything but ``source`` actions, which a person asks for by name or on save."""
    if context.only is None:
        return not kind.startswith("source")
    names = [str(getattr(item, "value", item)) for item in context.only]
    return any(name == "" or kind == name or kind.startswith(name + ".") for name in names)


def _touches(span: Span, wanted: Span) -> bool:
    return span[0] <= wanted[1] and wanted[0] <= span[1]


def _quick_fixes(
    server: NeurarchServer, analysed: Analysed, finding: Finding, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    own = _diagnostics(server, analysed, finding, params)
    for fix in finding.fixes:
        yield types.CodeAction(
            title=fix.title + SUFFIX[fix.applicability],
            kind=types.CodeActionKind.QuickFix,
            diagnostics=own,
            is_preferred=True if fix.applicability == "safe" and fix is finding.fixes[0] else None,
            edit=document_edit(server, analysed.document, fix.edits),
        )


def _suppress(
    server: NeurarchServer, analysed: Analysed, finding: Finding, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    own = _diagnostics(server, analysed, finding, params)
    if analysed.python is not None:
        offset = span_in(finding.place, analysed.python.document)[0]
        comment = suppression.in_python(finding, offset, analysed.document.text, analysed.document.lines)
        yield types.CodeAction(
            title=f"Ignore {finding.rule} on this line",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=own,
            edit=document_edit(server, analysed.document, [comment]),
        )
    elif finding.rule != "internal-error" and suppress_edits.possible(server, analysed):
        yield _lazy(
            server,
            analysed,
            types.CodeAction(
                title=suppression_title(finding),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=own,
                data={**_data(analysed, finding), "action": "suppress", "pointer": finding.place.pointer},
            ),
        )


def _about_rule(
    server: NeurarchServer, analysed: Analysed, finding: Finding, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    """Fix all of the rule, explain it."""
    own = _diagnostics(server, analysed, finding, params)
    same = [other for other in analysed.findings if other.rule == finding.rule]
    if sum(_is_safe(other) for other in same) > 1:
        yield _lazy(
            server,
            analysed,
            types.CodeAction(
                title=f"Fix all {finding.rule} problems in this file",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=own,
                data={**_data(analysed, finding), "action": "fix-rule"},
            ),
        )
    yield types.CodeAction(
        title=f"Explain {finding.rule}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=own,
        command=types.Command(
            title=f"Explain {finding.rule}", command="neurarch.explainRule", arguments=[finding.rule, {"show": True}]
        ),
    )


def _data(analysed: Analysed, finding: Finding) -> dict[str, Any]:
    return {"uri": analysed.document.uri, "version": analysed.document.version, "rule": finding.rule}


def suppression_title(finding: Finding) -> str:
    place = f" at {finding.place.pointer}" if finding.place.pointer else ""
    return f"Ignore {finding.rule}{place} in the settings file"


def _lazy(server: NeurarchServer, analysed: Analysed, action: types.CodeAction) -> types.CodeAction:
    """The action as it is for a client that resolves edits, with its edit for one that cannot."""
    if not ("edit" in server.client.code_action_resolve and server.client.code_action_data):
        action.edit = _edit_for(server, analysed, action.data)
        action.data = None
    return action


def _is_safe(finding: Finding) -> bool:
    return any(fix.applicability == "safe" for fix in finding.fixes)


def _diagnostics(
    server: NeurarchServer, analysed: Analysed, finding: Finding, params: types.CodeActionParams
) -> list[types.Diagnostic]:
    """The client's own diagnostics for this finding, so that it can tell which ones an action resolves."""
    positions = positions_of(analysed.document, server.documents.encoding)
    own = to_diagnostic(finding, analysed, positions, server.client)
    matching = [item for item in params.context.diagnostics if item.code == finding.rule and item.range == own.range]
    return matching or ([own] if finding.rule not in analysed.hidden else [])


def _has_safe_fix(analysed: Analysed) -> bool:
    return any(_is_safe(finding) for finding in analysed.findings)


def _fix_all(server: NeurarchServer, analysed: Analysed) -> types.CodeAction:
    """All safe fixes."""
    data = {"uri": analysed.document.uri, "version": analysed.document.version, "action": "fix-all"}
    return _lazy(server, analysed, types.CodeAction(title="Fix all safe problems (neurarch)", kind=FIX_ALL, data=data))


async def resolve(server: NeurarchServer, analysed: Analysed, action: types.CodeAction) -> types.CodeAction:
    """Fill in the edit, computed on the newest version."""
    action.edit = await off_loop(server, _edit_for, server, analysed, action.data)
    return action


def _edit_for(server: NeurarchServer, analysed: Analysed, data: Any) -> types.WorkspaceEdit | None:
    if not isinstance(data, dict):
        return None
    if data.get("action") == "suppress":
        return suppress_edits.edit(server, analysed, str(data.get("rule")), data.get("pointer"))
    fixed = _fixed_text(analysed, data.get("rule"))
    return (
        None if fixed is None else document_edit(server, analysed.document, difference(analysed.document.text, fixed))
    )


def _fixed_text(analysed: Analysed, rule: str | None) -> str | None:
    """The text after all safe fixes (of one rule), linted again after each round; None when there is nothing to do."""
    from neurarch_rules.engine import run as engine
    from neurarch_rules.engine.analyse import analyse, parse
    from neurarch_rules.engine.fixes import fix_text

    checked = analysed.checked
    if checked is None:
        return None
    path = analysed.document.path or ("buffer.py" if analysed.python is not None else "config.json")

    def lint(text: str) -> list[Finding]:
        again = analyse(parse(path, text), path, checked.folder)
        found = engine.check(again, analysed.options) if again else []
        return [finding for finding in found if rule is None or finding.rule == rule]

    fixed = fix_text(analysed.document.text, lint).text
    return None if fixed == analysed.document.text else fixed


def difference(before: str, after: str) -> list[TextEdit]:
    """Line-wise edits from one text to another; one edit where the changed region is too large to compare."""
    from difflib import SequenceMatcher

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    at = sum(len(line) for line in before.splitlines(keepends=True)[:head])
    if len(old) * len(new) > MAX_COMPARED:
        return [TextEdit((at, at + sum(map(len, old))), "".join(new))]
    starts = [at]
    for line in old:
        starts.append(starts[-1] + len(line))
    return [
        TextEdit((starts[first], starts[last]), "".join(new[left:right]))
        for tag, first, last, left, right in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


__all__ = ["FIX_ALL", "Fix", "actions", "resolve"]
