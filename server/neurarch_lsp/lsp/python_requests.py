"""What requests about Python model code begin with: the module classes of the newest text, from another process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_lsp.features.python_models import ClassModel
    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.server import NeurarchServer


async def class_models(server: NeurarchServer, analysed: Analysed) -> tuple[ClassModel, ...]:
    """The classes of a file of Python model code; () for any other document."""
    if analysed.python is None:
        return ()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(server.interpreting, _class_models, server, analysed)


def _class_models(server: NeurarchServer, analysed: Analysed) -> tuple[ClassModel, ...]:
    from neurarch_schemas.surroundings.environment import installed_packages

    document = analysed.document
    paths = [*analysed.options.python.search_paths, *installed_packages()]

    def newest() -> bool:
        present = server.documents.get(document.uri)
        return present is not None and present.version == document.version

    return server.python_models.of(document.path or "/nowhere/untitled.py", document.text, paths, newest)
