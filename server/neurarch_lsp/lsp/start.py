"""Starts the language server on stdio or a TCP port and ends with it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import TYPE_CHECKING, BinaryIO

from neurarch_lsp.lsp import allocator

if TYPE_CHECKING:
    from argparse import Namespace


SECONDS_BETWEEN_THREADS = 0.0002


def serve(*, tcp: str | None = None, log_level: str = "WARNING", log_file: str | None = None) -> int:
    """Run until the client says ``exit``, its stream ends, or its process dies; returns the exit code.

    ``tcp`` is "HOST:PORT" (port 0: any free one, printed to stderr). On stdio this does not return: the process ends
    without waiting for jobs, because nothing they compute is wanted any more.
    """
    _set_up_logging(log_level, log_file)
    allocator.set_up()
    # The event loop must get its turn soon while a worker computes.
    sys.setswitchinterval(SECONDS_BETWEEN_THREADS)
    if tcp is not None:
        try:
            host, port = parse_address(tcp)
        except ValueError as error:
            print(f"neurarch-lsp: {error}", file=sys.stderr)
            return 2
        return asyncio.run(_serve_tcp(host, port))
    source, sink = take_stdio()
    code = asyncio.run(_serve_stdio(source, sink))
    logging.shutdown()
    sys.stderr.flush()
    os._exit(code)


def run(arguments: Namespace) -> int:
    """Start as the command line says."""
    return serve(
        tcp=arguments.tcp,
        log_level=os.environ.get("NEURARCH_LOG", "WARNING").upper(),
        log_file=os.environ.get("NEURARCH_LOG_FILE"),
    )


def parse_address(text: str) -> tuple[str, int]:
    """Split "HOST:PORT", "[::1]:PORT" or ":PORT". Raises ValueError with a message for the user."""
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"--tcp needs HOST:PORT, not {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)


def take_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Keep the real streams for the protocol and send everything else that is printed to stderr.

    The descriptors are duplicated, so that not even a C library or a child process can write into the protocol.
    """
    sys.stdout.flush()
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink


async def _serve_stdio(source: BinaryIO, sink: BinaryIO) -> int:
    from neurarch_lsp.lsp.server import NeurarchServer
    from neurarch_lsp.lsp.transport import PipeWriter, start_pipe_reader

    server = NeurarchServer()
    writer = PipeWriter(sink)
    server.protocol.set_writer(writer)
    start_pipe_reader(source, server.protocol, server.turn, lambda: server.end(1))
    code = await server.ended()
    writer.flush()
    server.interpreter.end()
    return code


async def _serve_tcp(host: str, port: int) -> int:
    from neurarch_lsp.lsp.server import NeurarchServer
    from neurarch_lsp.lsp.transport import read_socket

    server = NeurarchServer()
    taken = False

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal taken
        if taken:
            writer.close()
            return
        taken = True
        server.protocol.set_writer(writer)
        await read_socket(reader, server.protocol, server.turn)
        server.end(1)

    listener = await asyncio.start_server(connected, host, port)
    address = listener.sockets[0].getsockname()
    print(f"neurarch-lsp listens on {address[0]}:{address[1]}", file=sys.stderr, flush=True)
    async with listener:
        code = await server.ended()
    server.interpreter.end()
    return code


def _set_up_logging(level: str, file: str | None) -> None:
    handler: logging.Handler = (
        logging.FileHandler(file, encoding="utf-8") if file else logging.StreamHandler(sys.stderr)
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    # pygls logs every body it sends at INFO.
    logging.getLogger("pygls").setLevel(logging.WARNING)
