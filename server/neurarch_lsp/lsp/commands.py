"""The commands of ``workspace/executeCommand``."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from neurarch_lsp.lsp import publisher, uris
from neurarch_lsp.lsp.python_requests import class_models
from neurarch_lsp.lsp.requests import newest, off_loop

if TYPE_CHECKING:
    from neurarch_lsp.features.python_models import ClassModel
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.server import NeurarchServer
    from neurarch_lsp.render.card_blocks import Card
    from neurarch_schemas.analysis import Analysis

logger = logging.getLogger(__name__)

REPORT, RESTART, COMPARE = "neurarch.report", "neurarch.restart", "neurarch.compare"
DEBUG, STATUS, EXPLAIN = "neurarch.debugInformation", "neurarch.status", "neurarch.explainRule"


EDITOR_STYLE = (
    "body.vscode-body{--paper:var(--vscode-editor-background);--text:var(--vscode-foreground);"
    "--soft:var(--vscode-descriptionForeground);--line:var(--vscode-panel-border);"
    "--fill:var(--vscode-editorWidget-background);--accent:var(--vscode-textLink-foreground);"
    "background:var(--paper);color:var(--text);font-family:var(--vscode-font-family)}"
    "body.vscode-dark{color-scheme:dark}body.vscode-light{color-scheme:light}"
)
"""The colours of the editor around a report, where there is one."""


async def report(server: NeurarchServer, arguments: list[Any]) -> dict[str, str] | None:
    """``[uri, {"format": "html" | "markdown", "config": 0}]`` -> title and content; null where there is no model.

    ``config`` is the number of a config that Python code constructs; without it the code's classes come first.

    A client that asks for no format (the lens in an editor without a view of its own) is shown a Markdown file.
    """
    known = await newest(server, types.TextDocumentIdentifier(_uri(arguments)))
    options = _plain(arguments[1]) if len(arguments) > 1 else {}
    chosen = options.get("format")
    if known is None:
        return None
    analysed, number = known[0], options.get("config")
    config = analysed.configs[number] if isinstance(number, int) and 0 <= number < len(analysed.configs) else None
    if config is None and (models := await class_models(server, analysed)):
        title, content = await off_loop(server, _python_text, analysed, models, chosen or "markdown")
    elif config is not None or analysed.configs:
        config = config or analysed.configs[0]
        title, content = await off_loop(server, _report_text, analysed, config, chosen or "markdown")
    else:
        return None
    if chosen is None and server.client.show_document:
        path = os.path.join(tempfile.mkdtemp(prefix="neurarch-"), f"{title}.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        server.window_show_document(types.ShowDocumentParams(uris.from_path(path), take_focus=True))
    return {"title": title, "content": content}


def _report_text(analysed: Analysed, analysis: Analysis, format_: str) -> tuple[str, str]:
    from neurarch_lsp.card.assumptions import from_settings
    from neurarch_lsp.card.build import build_card

    assumed = from_settings(analysed.options.serving)
    config = analysis.config
    title = f"{(config.model_type if config else '') or 'model'} report"
    # The findings of Python code are about all of the file.
    findings = analysed.findings if analysis is analysed.analysis else ()
    card = build_card(analysed.document.path or title, analysis, findings, assumed)
    return title, _written(card, format_)


def _python_text(analysed: Analysed, models: tuple[ClassModel, ...], format_: str) -> tuple[str, str]:
    from neurarch_lsp.card.python_card import class_card

    name, text = uris.file_name(analysed.document.uri), analysed.document.text
    classes = [(text.count("\n", 0, model.name_span[0]) + 1, model) for model in models]
    return f"{name.removesuffix('.py')} report", _written(class_card(name, classes), format_)


def _written(card: Card, format_: str) -> str:
    from neurarch_lsp.render.card_html import card_html
    from neurarch_lsp.render.card_markdown import card_markdown

    if format_ != "html":
        return card_markdown(card)
    return card_html(card).replace("</head>", f"<style>{EDITOR_STYLE}</style></head>", 1)


async def compare(server: NeurarchServer, arguments: list[Any]) -> dict[str, str] | None:
    """``[uri, {"with": path or "HEAD", "format": "html" | "markdown"}]`` -> title and content."""
    known = await newest(server, types.TextDocumentIdentifier(_uri(arguments)))
    if known is None or known[0].analysis is None or known[0].analysis.config is None:
        return None
    from neurarch_lsp.lsp.compare_command import comparison

    options = _plain(arguments[1]) if len(arguments) > 1 else {}
    other, format_ = str(options.get("with") or ""), str(options.get("format") or "markdown")
    title, content = await off_loop(server, comparison, known[0], other, format_)
    if format_ == "html":
        content = content.replace("</head>", f"<style>{EDITOR_STYLE}</style></head>", 1)
    return {"title": title, "content": content}


async def restart(server: NeurarchServer, _arguments: list[Any]) -> None:
    """Forget everything but the open texts, and analyse them afresh."""
    server.parsed.clear()
    server.folders.changed()
    server.settings.reload()
    publisher.surroundings_changed(server)


async def status(server: NeurarchServer, arguments: list[Any]) -> dict[str, Any] | None:
    """``[uri]`` -> whether the file is analysed, one line about it, and why."""
    known = await newest(server, types.TextDocumentIdentifier(_uri(arguments)))
    if known is None:
        return None
    from neurarch_lsp.render.model_card import one_line

    analysed = known[0]
    analysis = analysed.analysis
    if analysis is None and analysed.python is not None:
        return {"analysed": True, "text": analysed.why, "detail": f"{len(analysed.findings)} findings"}
    if analysis is None:
        return {"analysed": False, "text": "not a model file", "detail": analysed.why}
    line = await off_loop(server, one_line, analysis, analysed.options) if analysis.config is not None else None
    detail = analysed.why if analysis.built.reason is None else analysis.built.reason
    return {"analysed": True, "text": line or analysed.why, "detail": detail}


async def explain(server: NeurarchServer, arguments: list[Any]) -> str | None:
    """``[rule, {"show": true}]`` -> the rule's page as Markdown; with ``show`` the editor opens the page."""
    from neurarch_rules.engine import discovery

    rule = discovery.find(str(arguments[0])) if arguments else None
    if rule is None:
        return None
    path = discovery.page_path(rule.RULE)
    if len(arguments) > 1 and _plain(arguments[1]).get("show") and server.client.show_document:
        server.window_show_document(types.ShowDocumentParams(uris.from_path(path), take_focus=True))
    with open(path, encoding="utf-8") as file:
        return file.read()


async def debug_information(server: NeurarchServer, arguments: list[Any]) -> str:
    """``[uri]`` -> Markdown: why the file is or is not analysed, settings with their origin, versions, timings."""
    from neurarch_lsp.lsp.debug_information import text

    uri = _uri(arguments) if arguments else ""
    document = server.documents.get(uri)
    analysed = await server.scheduler.newest(document.key) if document is not None else None
    return await off_loop(server, text, server, uri, analysed)


COMMANDS: Mapping[str, Callable[[NeurarchServer, list[Any]], Awaitable[Any]]] = {
    REPORT: report,
    COMPARE: compare,
    RESTART: restart,
    DEBUG: debug_information,
    STATUS: status,
    EXPLAIN: explain,
}


def register(server: NeurarchServer) -> None:
    """Commands a client has of its own are left to it: it would refuse to have them twice."""
    for name, function in COMMANDS.items():
        if name == RESTART and "restartCommand" in server.client.experimental:
            continue
        server.command(name)(_handler(server, name, function))


def _handler(
    server: NeurarchServer, name: str, function: Callable[[NeurarchServer, list[Any]], Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    async def handle(*arguments: Any) -> Any:
        try:
            return await function(server, list(arguments))
        except Exception:
            logger.exception("the command %s failed", name)
            raise

    return handle


def _uri(arguments: list[Any]) -> str:
    return arguments[0] if arguments and isinstance(arguments[0], str) else ""


def _plain(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    as_dict = getattr(value, "_asdict", None)
    return as_dict() if callable(as_dict) else getattr(value, "__dict__", {})
