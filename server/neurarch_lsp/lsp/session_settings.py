"""Which settings hold for which document of a session: the editor's, by workspace folder, over the nearest file's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from neurarch_lsp.lsp import uris
from neurarch_lsp.lsp.editor_settings import EditorSettings
from neurarch_lsp.settings.resolve import Resolver


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """``resolver`` reads and remembers settings files; it is used on worker threads."""

    editor: EditorSettings
    resolver: Resolver


class SessionSettings:
    """Replaced as a whole when the client sends new settings; ``reload`` when a settings file has changed."""

    def __init__(self) -> None:
        self._default = DocumentSettings(EditorSettings(), Resolver())
        self._folders: dict[str, DocumentSettings] = {}

    @property
    def default(self) -> EditorSettings:
        return self._default.editor

    def replace(self, default: EditorSettings, folders: Mapping[str, EditorSettings] | None = None) -> None:
        """``folders``: settings by the URI of the workspace folder."""
        self._default = _with_resolver(default)
        self._folders = {uris.key(uri): _with_resolver(settings) for uri, settings in (folders or {}).items()}

    def reload(self) -> None:
        """Forget what was read from settings files."""
        self._default = _with_resolver(self._default.editor)
        self._folders = {uri: _with_resolver(settings.editor) for uri, settings in self._folders.items()}

    def of(self, uri: str) -> DocumentSettings:
        """The settings of the innermost workspace folder around a document."""
        key = uris.key(uri)
        around = [folder for folder in self._folders if key == folder or key.startswith(folder.rstrip("/") + "/")]
        return self._folders[max(around, key=len)] if around else self._default


def _with_resolver(editor: EditorSettings) -> DocumentSettings:
    overrides = (editor.table,) if editor.table else ()
    return DocumentSettings(editor, Resolver(config=editor.config, overrides=overrides))
