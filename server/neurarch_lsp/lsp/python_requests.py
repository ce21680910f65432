"""What requests about Python model code begin with: the module classes of the newest text, interpreted off the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.lsp.requests import off_loop

if TYPE_CHECKING:
    from neurarch_lsp.features.python_models import ClassModel
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.server import NeurarchServer


async def class_models(server: NeurarchServer, analysed: Analysed) -> tuple[ClassModel, ...]:
    """The classes of a file of Python model code; () for any other document."""
    if analysed.python is None:
        return ()
    return await off_loop(server, _class_models, server, analysed)


def _class_models(server: NeurarchServer, analysed: Analysed) -> tuple[ClassModel, ...]:
    from neurarch_schemas.surroundings.environment import installed_packages

    document = analysed.document
    paths = [*analysed.options.python.search_paths, *installed_packages()]
    return server.python_models.of(document.path or "/nowhere/untitled.py", document.text, paths)
