"""What is granted while something ends ends with it: by what is there, not by when requests say that they began. And what
ends access is never refused because clients are busy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import bindparam, delete, select

from kith.app import House
from kith.base.db import UID, command, query
from kith.base.work import Work
from kith.identity.lockdown import service as lockdown
from kith.identity.lockdown.service import Lockdown
from kith.identity.providers.oauth2 import store as oauth
from kith.identity.providers.oauth2.consent import authorized_clients
from kith.identity.providers.oauth2.grants import service as granting
from kith.identity.providers.oauth2.tables import grants
from kith.identity.sessions import store as sessions
from kith.identity.sessions.service import end_all
from kith.identity.sessions.tables import runs
from kith.identity.users import service as user_service
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from tests.identity.flow_browser import Browser
from tests.identity.records import owner_of, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.identity.test_oauth_device import answer_page, poll, start
from tests.town import Person, Town

_held_by_an_end = query(
    select(grants.c.grant_uuid).where(grants.c.grant_uuid == bindparam("grant", type_=UID())).with_for_update(), str
)
_end_runs = command(delete(runs).where(runs.c.session_uuid == bindparam("session", type_=UID())))


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def number_of(ada: Person, person: Person) -> int:
    [found] = await results(ada, "/core/users/", username=person.username)
    return int(found["pk"])


@asynccontextmanager
async def begun(town: Town) -> AsyncIterator[tuple[House, Work]]:
    """A request that has begun, and has not written yet."""
    async with town.house() as house, house.works.begin() as work:
        yield house, work


async def test_a_new_password_ends_what_was_granted_while_it_was_being_set(town: Town, ada: Person) -> None:
    party, (person, browser) = await make_party(town, ada), await signed_in(town)
    id, started = await number_of(ada, person), await start(party)

    async with begun(town) as (house, work):
        user = await users.get(work.db, id)
        assert (await answer_page(browser, started["user_code"], "allow")).status_code == 200
        tokens = await party.tokens(browser)
        await user_service.set_password(work, house.works.services[Passwords], user, "a wholly new one 99")
        await end_all(work, id)

    assert (await poll(party, started)).json()["error"] == "invalid_grant"
    assert (await party.refresh(tokens["refresh_token"])).status_code == 400
    assert (await party.userinfo(tokens["access_token"])).status_code == 401


async def locked(work: Work, id: int, _party: RelyingParty) -> None:
    wanted = Lockdown(reason="lost", remove_factors=False, notify=False)
    await lockdown.lock(work, await users.get(work.db, id), wanted, by=None, by_name="")


async def disabled(work: Work, id: int, _party: RelyingParty) -> None:
    await user_service.set_active(work, await users.get(work.db, id), False)


async def taken_back(work: Work, id: int, party: RelyingParty) -> None:
    assert await authorized_clients.take_back(work, await users.get(work.db, id), f"p{party.provider['pk']}")


@pytest.mark.parametrize("ends", [locked, disabled, taken_back])
async def test_what_ends_now_ends_what_a_clock_says_is_of_later(
    town: Town, ada: Person, ends: Callable[[Work, int, RelyingParty], Awaitable[Any]]
) -> None:
    party, (person, browser) = await make_party(town, ada), await signed_in(town)
    id = await number_of(ada, person)
    await party.tokens(browser)

    async with town.house() as house:
        clock = house.works.clock
        house.works.clock = lambda: clock() - timedelta(hours=1)  # it was set back after they had signed in
        try:
            async with house.works.begin() as work:
                await ends(work, id, party)
            async with house.works.begin() as work:
                left = await oauth.grants_of_user(work.db, id)
        finally:
            house.works.clock = clock

    assert left == []


async def until_it_waits(answer: Awaitable[Any]) -> asyncio.Task[Any]:
    task = asyncio.ensure_future(answer)
    await asyncio.wait([task], timeout=0.5)
    return task


async def refreshed(party: RelyingParty, browser: Browser) -> Callable[[], Awaitable[httpx.Response]]:
    token = (await party.tokens(browser))["refresh_token"]
    return lambda: party.refresh(token)


async def traded(party: RelyingParty, browser: Browser) -> Callable[[], Awaitable[httpx.Response]]:
    code = await party.code(browser)
    return lambda: party.trade(*code)


async def polled(party: RelyingParty, browser: Browser) -> Callable[[], Awaitable[httpx.Response]]:
    started = await start(party)
    assert (await answer_page(browser, started["user_code"], "allow")).status_code == 200
    return lambda: poll(party, started)


@pytest.mark.both_databases
@pytest.mark.parametrize("way", [refreshed, traded, polled])
async def test_a_grant_ends_although_its_client_is_asking(
    town: Town,
    ada: Person,
    way: Callable[[RelyingParty, Browser], Awaitable[Callable[[], Awaitable[httpx.Response]]]],
) -> None:
    """The two wait for each other in one order only."""
    party, (person, browser) = await make_party(town, ada), await signed_in(town)
    ask = await way(party, browser)

    async with begun(town) as (_, work):
        [grant] = await oauth.grants_of_user(work.db, await number_of(ada, person))
        await work.db.begin()
        await work.db.one(_held_by_an_end, grant=grant.grant_uuid)
        asking = await until_it_waits(ask())
        await granting.end_grant(work, grant)

    assert (await asking).status_code == 400


@pytest.mark.both_databases
async def test_a_session_ends_although_somebody_is_entering_an_application(town: Town, ada: Person) -> None:
    party, (person, browser) = await make_party(town, ada), await signed_in(town)
    id = await number_of(ada, person)
    await party.code(browser)  # whose flow has left a run behind
    await browser.see("default-invalidation-flow")

    async with begun(town) as (_, work):
        [session] = await sessions.of_user(work.db, id, work.now)
        await work.db.begin()
        await work.db.run(_end_runs, session=session.session_uuid)  # as one does who takes up the flow's run
        leaving = await until_it_waits(browser.post("default-invalidation-flow", component="userlogout"))
        assert await sessions.hold(work.db, session.key_hash)

    assert (await leaving).status_code < 500
    assert await browser.who() is None or (await leaving).status_code != 200
