"""One server process for each client profile and test run; every test opens documents of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from .clients import PROFILES, Session, start


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=PROFILES, ids=lambda profile: profile.encoding)
async def session(request: pytest.FixtureRequest) -> AsyncIterator[Session]:
    client = await start(request.param)
    yield Session(client, request.param)
    await client.shutdown_session()
    await client.stop()
    assert client._server is not None
    assert client._server.returncode == 0
