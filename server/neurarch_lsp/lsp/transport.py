"""Reads framed JSON-RPC messages from a pipe or a socket and hands them to the event loop; writes the answers.

Each read, write and wake-up gives the interpreter lock away and has to wait for it again while others compute. So
messages that come together are handed over together, and answers that are ready together are written together.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

from neurarch_lsp.lsp.loop_turn import LoopTurn

logger = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""A header that announces more is taken for noise: no editor sends such a message."""


class Receiver(Protocol):
    def receive(self, message: dict[str, Any]) -> None: ...


class PipeWriter:
    """The writer interface of pygls over a binary stream. Only the event loop writes, at the end of its turn."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self.flush)
        self._waiting.append(data)

    def flush(self) -> None:
        data = b"".join(self._waiting)
        self._waiting.clear()
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError:  # the client has gone: the end of the input says so too
            logger.debug("the output was closed", exc_info=True)

    def close(self) -> None:
        self.flush()
        self._stream.close()


def content_length(header: bytes) -> int | None:
    """The length a header line announces; None for any other header or nonsense."""
    name, separator, value = header.partition(b":")
    if not separator or name.strip().lower() != b"content-length":
        return None
    value = value.strip()
    if not value.isdigit() or int(value) > MAX_MESSAGE_BYTES:
        return None
    return int(value)


def deliver(body: bytes, receiver: Receiver) -> None:
    """Decode one message and hand it on. What cannot be decoded is logged, and the next message is read."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        logger.exception("a message of %d bytes is not JSON", len(body))
        return
    if not isinstance(message, dict):
        logger.error("a message is not a JSON object: %.80r", body)
        return
    receiver.receive(message)


def start_pipe_reader(
    stream: BinaryIO, receiver: Receiver, turn: LoopTurn, ended: Callable[[], None]
) -> threading.Thread:
    """Read ``stream`` on a daemon thread; ``receiver`` and ``ended`` are called on the running event loop."""
    loop = asyncio.get_running_loop()
    waiting: deque[bytes] = deque()

    def call(function: Callable[[], None]) -> None:
        try:
            loop.call_soon_threadsafe(function)
        except RuntimeError:  # the loop has been closed: the process is about to end
            logger.debug("message after the end of the session")

    def deliver_all() -> None:
        while waiting:
            deliver(waiting.popleft(), receiver)
        turn.end()

    def read() -> None:
        try:
            while (body := _read_message(stream)) is not None:
                turn.begin()
                waiting.append(body)
                if len(waiting) == 1:
                    call(deliver_all)
        except (OSError, ValueError):
            logger.debug("the input was closed", exc_info=True)
        call(ended)

    thread = threading.Thread(target=read, name="neurarch-input", daemon=True)
    thread.start()
    return thread


def _read_message(stream: BinaryIO) -> bytes | None:
    length: int | None = None
    while line := stream.readline():
        if line.strip():
            length = content_length(line) if length is None else length
        elif length is not None:
            body = stream.read(length)
            return body if len(body) == length else None
    return None


async def read_socket(reader: asyncio.StreamReader, receiver: Receiver, turn: LoopTurn) -> None:
    """Read messages from a socket until it ends."""
    length: int | None = None
    try:
        while line := await reader.readline():
            if line.strip():
                length = content_length(line) if length is None else length
            elif length is not None:
                body = await reader.readexactly(length)
                turn.begin()
                deliver(body, receiver)
                turn.end()
                length = None
    except (asyncio.IncompleteReadError, ConnectionError):
        logger.debug("the connection was lost", exc_info=True)
