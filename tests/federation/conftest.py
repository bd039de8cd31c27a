from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kith.base.http import Outgoing
from kith.federation.fetching import FetchChain, RemoteClient
from tests.federation.outgoing import Village, add_elsewhere, add_follow, told
from tests.federation.remote_server import RemoteServer, remote_server
from tests.social.members import join
from tests.town import Town
from tests.town.town import Engine, build_town


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


@pytest.fixture(scope="module")
async def idle(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town whose server runs no jobs: they are done when a test asks what was told."""
    async with build_town(engine, tmp_path_factory.mktemp("outgoing"), worker="off") as town:
        yield town


@pytest.fixture
async def village(idle: Town) -> Village:
    ada, bob = await join(idle), await join(idle)
    async with idle.house() as house, house.works.begin() as work:
        hosts = ("near", "named", "bystander", "bobs")
        people = {host: await add_elsewhere(work, f"{host}.example") for host in hosts}
        people["alone"] = await add_elsewhere(work, "alone.example", has_shared=False)
        for follower in (people["near"], await add_elsewhere(work, "near.example"), people["alone"]):
            await add_follow(work, follower, ada)
        await add_follow(work, people["bobs"], bob)
    await told(idle)
    return Village(idle, ada, bob, people)
