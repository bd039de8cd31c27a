from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kith.base.http import Outgoing
from kith.federation.fetching import FetchChain, RemoteClient
from tests.federation.remote_server import RemoteServer, remote_server


@pytest.fixture
async def remote() -> AsyncIterator[RemoteServer]:
    async with remote_server() as one:
        yield one


@pytest.fixture
async def other() -> AsyncIterator[RemoteServer]:
    async with remote_server() as one:
        yield one


@pytest.fixture
def chain() -> FetchChain:
    return FetchChain()


@pytest.fixture
async def client(remote: RemoteServer, other: RemoteServer) -> AsyncIterator[RemoteClient]:
    """One that may speak to both servers."""
    hosts = [remote.domain, other.domain]
    outgoing = Outgoing("kith-test", hosts)
    yield RemoteClient(outgoing, hosts)
    await outgoing.close()
