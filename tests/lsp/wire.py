"""A bare client on the bytes of the protocol, for what a well-behaved one never sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from .clients import SECONDS, SERVER

INITIALIZE: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}


class Wire:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(
        cls, *arguments: str, environment: Mapping[str, str] | None = None, command: list[str] | None = None
    ) -> Wire:
        process = await asyncio.create_subprocess_exec(
            *(command or SERVER),
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            limit=1 << 26,
        )
        return cls(process)

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, method: str, params: Any, identity: int | str | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if identity is not None:
            message["id"] = identity
        self.frame(json.dumps(message).encode())

    def frame(self, body: bytes) -> None:
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def receive(self) -> dict[str, Any]:
        """The next message; fails on anything that is not part of the protocol."""
        assert self.process.stdout is not None
        async with asyncio.timeout(SECONDS):
            length = 0
            while (line := await self.process.stdout.readline()).strip():
                name, _, value = line.partition(b":")
                assert name in (b"Content-Length", b"Content-Type"), line
                length = int(value) if name == b"Content-Length" else length
            assert length, "the stream ended"
            message = json.loads(await self.process.stdout.readexactly(length))
        assert isinstance(message, dict)
        return message

    async def answer(self, identity: int | str) -> dict[str, Any]:
        """The response to one request; notifications and requests in between are left aside."""
        while True:
            message = await self.receive()
            if message.get("id") == identity and "method" not in message:
                return message

    async def notification(self, method: str) -> Any:
        while True:
            message = await self.receive()
            if message.get("method") == method:
                return message["params"]

    async def initialize(self, **changes: Any) -> dict[str, Any]:
        self.send("initialize", {**INITIALIZE, **changes}, 0)
        answer = await self.answer(0)
        self.send("initialized", {})
        return answer

    async def code(self) -> int:
        async with asyncio.timeout(SECONDS):
            return await self.process.wait()

    async def end(self) -> int:
        self.send("shutdown", None, "end")
        await self.answer("end")
        self.send("exit", None)
        return await self.code()

    def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
