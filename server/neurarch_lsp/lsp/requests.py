"""What most requests begin with: the newest analysis of the document, and its positions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from neurarch_lsp.lsp.positions import Positions, positions_of

if TYPE_CHECKING:
    from lsprotocol import types

    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.server import NeurarchServer

Result = TypeVar("Result")


async def newest(server: NeurarchServer, identifier: types.TextDocumentIdentifier) -> tuple[Analysed, Positions] | None:
    """The analysis of the newest version; None for a document that is not open."""
    document = server.documents.get(identifier.uri)
    analysed = await server.scheduler.newest(document.key) if document is not None else None
    if analysed is None:
        return None
    return analysed, positions_of(analysed.document, server.documents.encoding)


async def off_loop(server: NeurarchServer, function: Callable[..., Result], *arguments: object) -> Result:
    """Run a computation on a worker thread; the request that waits for it can be cancelled meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(server.pool, function, *arguments)
