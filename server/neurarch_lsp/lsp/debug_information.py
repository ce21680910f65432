"""The answer to "why is this file, or is it not, analysed": detection, settings, versions, timings."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
import sys
from functools import cache
from typing import TYPE_CHECKING

from neurarch_schemas import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.server import NeurarchServer


def text(server: NeurarchServer, uri: str, analysed: Analysed | None) -> str:
    return (
        "\n".join([*_versions(), "", *_document(uri, analysed), "", *_settings(server, uri), "", *_client(server)])
        + "\n"
    )


def _versions() -> Iterator[str]:
    yield "# neurarch-lsp"
    yield ""
    yield f"- version: {__version__}"
    yield f"- Python: {platform.python_version()} ({sys.executable})"
    for package in ("pygls", "lsprotocol", "pydantic", "tree-sitter"):
        yield f"- {package}: {_version(package)}"


@cache
def _version(package: str) -> str:
    """Finding it reads the whole metadata of a package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _document(uri: str, analysed: Analysed | None) -> Iterator[str]:
    yield "## This file"
    yield ""
    if analysed is None:
        yield f"- {uri or 'no file'}: not open in this session"
        return
    document, analysis = analysed.document, analysed.analysis
    size = f"{len(document.text):,} characters"
    yield f"- {document.uri}, version {document.version}, language `{document.language}`, {size}"
    yield f"- detected as: {analysed.why}"
    if analysis is not None and analysis.config is not None:
        config = analysis.config
        origin = "known to transformers" if config.is_native else "not in transformers"
        yield f"- model type: `{config.model_type or 'none'}` ({origin})"
        yield f"- architecture: `{config.architecture or 'none'}`"
        yield f"- numbers: {'exact' if analysis.built.tree is not None else 'none: ' + (analysis.built.reason or '')}"
        listing = analysis.folder.listing
        yield f"- files beside it: {len(listing) if listing is not None else 'not known'}"
    hidden = len(analysed.findings) - len(analysed.reported)
    yield f"- findings: {len(analysed.findings)}, left to the editor's own JSON support: {hidden}"
    for name, seconds in analysed.seconds.items():
        yield f"- {name}: {seconds * 1000:.2f} ms"
    if analysed.settings_problem is not None:
        yield f"- settings file: {analysed.settings_problem}"


def _settings(server: NeurarchServer, uri: str) -> Iterator[str]:
    from neurarch_lsp.lsp import uris
    from neurarch_lsp.settings.find import SettingsError

    settings = server.settings.of(uri)
    yield "## Settings"
    yield ""
    path = uris.to_path(uri)
    try:
        found = settings.resolver.file_for(path)
        yield f"- settings file: {found.path if found else 'none'}"
        if found is not None:
            for key, value in found.data.items():
                yield f"  - `{key}` = `{value}` (settings file)"
    except SettingsError as error:
        yield f"- settings file: {error}"
    for key, value in settings.editor.table.items():
        yield f"- `{key}` = `{value}` (editor)"
    for field in dataclasses.fields(settings.editor):
        if field.name not in ("table", "problems"):
            yield f"- editor: {field.name.replace('_', '-')} = `{getattr(settings.editor, field.name)}`"
    for problem in settings.editor.problems:
        yield f"- not understood: {problem}"


def _client(server: NeurarchServer) -> Iterator[str]:
    yield "## Client"
    yield ""
    for field in dataclasses.fields(server.client):
        value = getattr(server.client, field.name)
        shown = ", ".join(sorted(str(item) for item in value)) if isinstance(value, frozenset) else value
        yield f"- {field.name.replace('_', ' ')}: {shown}"
    yield f"- workspace folders: {', '.join(server.workspace.folders) or 'none'}"
    yield f"- open documents: {len(server.documents)}"
