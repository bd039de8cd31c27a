"""Two processes on one database: what happens in one is streamed by the other, whatever becomes of the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from kith.base.db import command, connect
from kith.base.settings import load
from tests.conftest import TownBuilder
from tests.social.members import Member, join
from tests.social.posts import arrive, post
from tests.social.streams import listen, open_socket
from tests.social.tokens import new_app
from tests.town import Town

pytestmark = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
POSTS = 60
_CUT = command(
    text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'kith_news'"
    )
)


@pytest.fixture
async def pair(new_town: TownBuilder, tmp_path: Path) -> AsyncIterator[tuple[Town, Town]]:
    """A second server beside the first, on the same database and the same data folder, without a worker."""
    first = await new_town()
    folder = tmp_path / "second"
    folder.mkdir()
    more = {"data": str(first.folder), "base_url": first.base_url, "worker": "off"}
    second = Town("postgresql", folder, first.database, **more)
    await second.start()
    try:
        yield first, second
    finally:
        await second.close()


async def cut_off(town: Town) -> None:
    """Every connection that news travels on ends, as when the database restarts."""
    database = await connect(load(town.environment), connections=1)
    session = database.session()
    await session.run(_CUT)
    await session.commit()
    await database.close()


async def test_nothing_is_lost_and_nothing_is_told_twice_when_the_wire_breaks(pair: tuple[Town, Town]) -> None:
    first, second = pair
    ada, bob = await join(first), await join(first)
    await ada.to(bob, "follow")
    await arrive(ada, bob)
    async with (
        listen(ada, "user", base_url=second.base_url) as user,
        listen(ada, "public", base_url=second.base_url) as public,
        open_socket(ada, "user:notification", base_url=second.base_url) as socket,
    ):
        said = []
        for number in range(POSTS):
            if number % 20 == 10:
                await cut_off(first)
            said.append((await post(bob, f"number {number}"))["id"])
        named = await post(bob, f"@{ada.name} last")
        wanted = [("update", id) for id in (*said, named["id"])]
        for events in (user, public):
            heard = [(name, one["id"]) for name, one in [await events.next() for _ in wanted] if name == "update"]
            if events is user:  # the mention is told there, too
                while len(heard) < len(wanted):
                    name, one = await events.next()
                    heard += [(name, one["id"])] if name == "update" else []
            assert sorted(heard) == sorted(wanted)
        _, name, told = await socket.next_of()
        assert (name, told["status"]["id"]) == ("notification", named["id"])

        last = await post(bob, "nothing comes twice")
        assert (await public.until("update", last["id"])) == [("update", last["id"])]


async def test_a_token_that_ends_here_ends_its_streams_there(pair: tuple[Town, Town]) -> None:
    first, second = pair
    person = await first.sign_up()
    app = await new_app(first, "read write")
    ada = Member(first, await app.token_of(person, "read write"))
    async with (
        listen(ada, "user", base_url=second.base_url) as events,
        open_socket(ada, "user", base_url=second.base_url) as socket,
    ):
        await cut_off(first)
        keys = {"client_id": app.client_id, "client_secret": app.secret, "token": ada.token}
        assert (await first.http.post("/oauth/revoke", data=keys)).status_code == 200
        assert await events.ended()
        assert (await socket.closed())[0] == 1008


async def test_a_block_made_here_counts_there_at_once(pair: tuple[Town, Town]) -> None:
    first, second = pair
    ada, bob = await join(first), await join(first)
    async with listen(ada, "public", base_url=second.base_url) as events:
        await ada.to(bob, "block")
        hidden, seen = await post(bob), await post(ada)
        heard = await events.until("update", seen["id"])
        assert hidden["id"] not in {id for _, id in heard}
        await asyncio.gather(*(post(ada, str(number)) for number in range(5)))
