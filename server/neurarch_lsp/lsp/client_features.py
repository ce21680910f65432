"""What the client can do, resolved once at ``initialize`` into named flags, so that no handler digs in capabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

PREFERRED_ENCODINGS = ("utf-32", "utf-8", "utf-16")
"""Python indexes code points, so utf-32 needs no conversion; the order of the rest is taste."""


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """``name`` is the client's own ("Visual Studio Code", "Neovim"), for the log and for ``syntax-errors = "auto"``."""

    name: str = ""
    version: str = ""
    position_encoding: str = "utf-16"
    pull_diagnostics: bool = False
    related_information: bool = False
    diagnostic_tags: frozenset[int] = frozenset()
    code_description: bool = False
    diagnostic_data: bool = False
    hover_markdown: bool = False
    completion_markdown: bool = False
    snippets: bool = False
    completion_tags: bool = False
    code_action_resolve: frozenset[str] = frozenset()
    code_action_data: bool = False
    document_changes: bool = False
    create_files: bool = False
    hierarchical_symbols: bool = False
    fold_limit: int | None = None
    inlay_resolve: frozenset[str] = frozenset()
    definition_links: bool = False
    link_tooltips: bool = False
    watch_files: bool = False
    pull_configuration: bool = False
    register_configuration: bool = False
    refresh_diagnostics: bool = False
    refresh_inlay_hints: bool = False
    refresh_code_lenses: bool = False
    work_done_progress: bool = False
    show_document: bool = False
    experimental: frozenset[str] = field(default_factory=frozenset)
    """Names our own clients announce: ``reportView`` (opens ``neurarch.report`` results itself)."""


def choose_encoding(offered: list[Any] | tuple[Any, ...] | None) -> str:
    """The position encoding for a session; utf-16 when the client offers nothing we know (LSP's default)."""
    names = {str(getattr(item, "value", item)) for item in offered or ()}
    return next((encoding for encoding in PREFERRED_ENCODINGS if encoding in names), "utf-16")


def resolve(params: types.InitializeParams) -> ClientFeatures:
    """Read the capabilities of an ``initialize`` request; whatever is absent is off."""
    get = _Reader(params.capabilities)
    info = params.client_info
    markdown = types.MarkupKind.Markdown
    return ClientFeatures(
        name=info.name if info else "",
        version=(info.version or "") if info else "",
        position_encoding=choose_encoding(get.items("general.position_encodings")),
        pull_diagnostics=get("text_document.diagnostic") is not None,
        related_information=get.flag("text_document.publish_diagnostics.related_information")
        or get.flag("text_document.diagnostic.related_information"),
        diagnostic_tags=frozenset(
            int(tag)
            for tag in (
                *get.items("text_document.publish_diagnostics.tag_support.value_set"),
                *get.items("text_document.diagnostic.tag_support.value_set"),
            )
        ),
        code_description=get.flag("text_document.publish_diagnostics.code_description_support")
        or get.flag("text_document.diagnostic.code_description_support"),
        diagnostic_data=get.flag("text_document.publish_diagnostics.data_support")
        or get.flag("text_document.diagnostic.data_support"),
        hover_markdown=markdown in get.items("text_document.hover.content_format"),
        completion_markdown=markdown in get.items("text_document.completion.completion_item.documentation_format"),
        snippets=get.flag("text_document.completion.completion_item.snippet_support"),
        completion_tags=get("text_document.completion.completion_item.tag_support") is not None,
        code_action_resolve=get.names("text_document.code_action.resolve_support.properties"),
        code_action_data=get.flag("text_document.code_action.data_support"),
        document_changes=get.flag("workspace.workspace_edit.document_changes"),
        create_files=get.flag("workspace.workspace_edit.document_changes")
        and "create"
        in {str(getattr(item, "value", item)) for item in get.items("workspace.workspace_edit.resource_operations")},
        hierarchical_symbols=get.flag("text_document.document_symbol.hierarchical_document_symbol_support"),
        fold_limit=get("text_document.folding_range.range_limit"),
        inlay_resolve=get.names("text_document.inlay_hint.resolve_support.properties"),
        link_tooltips=get.flag("text_document.document_link.tooltip_support"),
        definition_links=get.flag("text_document.definition.link_support"),
        watch_files=get.flag("workspace.did_change_watched_files.dynamic_registration"),
        pull_configuration=get.flag("workspace.configuration"),
        register_configuration=get.flag("workspace.did_change_configuration.dynamic_registration"),
        refresh_diagnostics=get.flag("workspace.diagnostics.refresh_support"),
        refresh_inlay_hints=get.flag("workspace.inlay_hint.refresh_support"),
        refresh_code_lenses=get.flag("workspace.code_lens.refresh_support"),
        work_done_progress=get.flag("window.work_done_progress"),
        show_document=get.flag("window.show_document.support"),
        experimental=_experimental(params.capabilities.experimental),
    )


def _experimental(value: object) -> frozenset[str]:
    items = value.items() if isinstance(value, dict) else vars(value).items() if hasattr(value, "__dict__") else ()
    return frozenset(name for name, enabled in items if enabled)


class _Reader:
    """Reads a dotted path of a capabilities object; a missing step gives None."""

    def __init__(self, capabilities: types.ClientCapabilities) -> None:
        self._root = capabilities

    def __call__(self, path: str) -> Any:
        value: Any = self._root
        for name in path.split("."):
            value = getattr(value, name, None)
            if value is None:
                return None
        return value

    def flag(self, path: str) -> bool:
        return bool(self(path))

    def items(self, path: str) -> list[Any]:
        return list(self(path) or ())

    def names(self, path: str) -> frozenset[str]:
        return frozenset(str(item) for item in self.items(path))
