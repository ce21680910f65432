"""What most requests begin with: the newest analysis of the document, and its positions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from neurarch_lsp.lsp.positions import Positions, positions_of

if TYPE_CHECKING:
    from lsprotocol import types

    from neurarch_lsp.lsp.job import Analysed
    from neurarch_lsp.lsp.loop_turn import LoopTurn
    from neurarch_lsp.lsp.server import NeurarchServer
    from neurarch_schemas.analysis import Analysis

Result = TypeVar("Result")


async def newest(server: NeurarchServer, identifier: types.TextDocumentIdentifier) -> tuple[Analysed, Positions] | None:
    """The analysis of the newest version; None for a document that is not open."""
    document = server.documents.get(identifier.uri)
    analysed = await server.scheduler.newest(document.key) if document is not None else None
    if analysed is None:
        return None
    return analysed, positions_of(analysed.document, server.documents.encoding)


async def config_of(server: NeurarchServer, data: object) -> tuple[Analysed, Analysis, str] | None:
    """The analysis, config and pointer that the ``data`` of an item to be resolved names."""
    fields = data if isinstance(data, dict) else {}
    uri, pointer, number = fields.get("uri"), fields.get("pointer"), fields.get("config", 0)
    document = server.documents.get(uri) if isinstance(uri, str) else None
    analysed = await server.scheduler.newest(document.key) if document is not None else None
    configs = analysed.configs if analysed is not None else ()
    if analysed is None or not isinstance(pointer, str) or not isinstance(number, int) or number >= len(configs):
        return None
    return analysed, configs[number], pointer


class Abandoned(Exception):
    """The request was cancelled: what it asked for is not computed to its end."""


class _Wish:
    """Whether a request still waits; set on the event loop, read by its worker."""

    __slots__ = ("_turn", "over")

    def __init__(self, turn: LoopTurn) -> None:
        self._turn = turn
        self.over = False

    def poll(self) -> None:
        self._turn.poll()
        if self.over:
            raise Abandoned


async def in_steps(server: NeurarchServer, function: Callable[..., Result], *arguments: object) -> Result:
    """As ``off_loop``, for what may read a whole document: ``function`` gets one argument more, which it calls between
    two steps, and which ends it once the request has been cancelled."""
    wish = _Wish(server.turn)
    try:
        return await off_loop(server, function, *arguments, wish.poll)
    finally:
        wish.over = True


async def off_loop(server: NeurarchServer, function: Callable[..., Result], *arguments: object) -> Result:
    """Run a computation on a worker thread; the request that waits for it can be cancelled meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(server.pool, function, *arguments)
