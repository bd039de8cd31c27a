from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kith.base.http import Outgoing
from kith.federation.fetching import FetchChain, RemoteClient
from tests.federation.remote_server import RemoteServer, remote_server
from tests.town import Town


@pytest.fixture(autouse=True)
def own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody signs with the key of somebody else."""
    monkeypatch.setattr(Town, "makes_own_keys", True)


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
