"""From a document to what is known about it: the one entry that the command line, the server and the test kit share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from neurarch_schemas.documents.json_document import JsonDocument
from neurarch_schemas.elsewhere import here

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import FileKind
    from neurarch_schemas.documents.python_document import PythonDocument
    from neurarch_schemas.elsewhere import Elsewhere
    from neurarch_schemas.surroundings.folder import Folder
    from neurarch_schemas.surroundings.folders_above import FoldersAbove

PYTHON = (".py", ".pyi")


def is_candidate(file_name: str) -> bool:
    """Whether a file met while walking a folder is worth opening; what it is decides its content."""
    name = file_name.lower()
    if name.endswith(".py"):
        return True
    return name.endswith(".json") and ("config" in name or name == "params.json")


def parse(path: str, text: str) -> JsonDocument | PythonDocument:
    if path.endswith(PYTHON):
        from neurarch_schemas.documents.python_document import PythonDocument

        return PythonDocument.parse(text, path)
    return JsonDocument.parse(text, path)


def analyse_text(path: str, text: str, folders_above: FoldersAbove | None = None) -> Analysis | None:
    """As ``analyse``, for a text that is (to be) the file at ``path``; reads what lies beside it ("-": nothing)."""
    document = parse(path, text)
    return analyse(document, path, None, folders_above)


def analyse(
    document: JsonDocument | PythonDocument,
    path: str,
    folder: Folder | None,
    folders_above: FoldersAbove | None = None,
    interpreting: Elsewhere = here,
) -> Analysis | None:
    """What is known about a document; None for a file that is not ours, which then has cost one parse.

    ``folder`` is the snapshot of what lies beside the document; None: read here, once the file is known to be ours,
    with what is known of the folders above. ``interpreting``: where code beside a config is interpreted. Pure when a
    folder is given.
    """
    if not isinstance(document, JsonDocument):
        return _analyse_python(document, path, folder, folders_above, interpreting)
    from neurarch_schemas.documents.detect import detect

    def listing() -> frozenset[str] | None:
        return (surroundings(path, document) if folder is None else folder).listing

    kind = detect(os.path.basename(path), document.data, listing, document.text)
    if kind is None:
        return None
    from neurarch_schemas.analysis import Analysis

    if folder is None:
        folder = surroundings(path, document, folders_above)
    config = None
    if kind in ("config", "params"):
        from neurarch_schemas.config.read import read_config

        config = read_config(document.data, "params" if kind == "params" else "config")
    return Analysis(document, kind, folder, config, interpreting=interpreting)


def _analyse_python(
    document: PythonDocument,
    path: str,
    folder: Folder | None,
    folders_above: FoldersAbove | None,
    interpreting: Elsewhere,
) -> Analysis | None:
    from neurarch_schemas.python_analysis import PythonAnalysis, is_model_code

    if not is_model_code(document.text):
        return None
    beside = surroundings(path, document, folders_above) if folder is None else folder
    found = PythonAnalysis(document, beside, interpreting=interpreting)
    # A rule reads only the kinds of file it names; facts.python_file gives the rules of this kind the true type.
    return cast("Analysis", found)


def kind_of(document: JsonDocument | PythonDocument, path: str) -> FileKind | None:
    """What a document is to us, None for a file that is not ours."""
    if not isinstance(document, JsonDocument):
        from neurarch_schemas.python_analysis import is_model_code

        return "python" if is_model_code(document.text) else None
    from neurarch_schemas.documents.detect import detect

    return detect(os.path.basename(path), document.data, lambda: surroundings(path, document).listing, document.text)


def surroundings(
    path: str, document: JsonDocument | PythonDocument, folders_above: FoldersAbove | None = None
) -> Folder:
    """The snapshot of the folder a document is (to be) in; "-" is nowhere."""
    from neurarch_schemas.surroundings.folder import Folder

    if path in ("", "-"):
        return Folder()
    from neurarch_schemas.surroundings.read import read_folder

    return read_folder(path, document.data if isinstance(document, JsonDocument) else None, folders_above)
