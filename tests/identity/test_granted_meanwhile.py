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
from sqlalchemy import bindparam, delete, select, update

from kith.app import House
from kith.base.db import UID, command, query
from kith.base.work import Work
from kith.identity.groups import store as groups
from kith.identity.groups.tables import groups as group_rows
from kith.identity.lockdown import service as lockdown
from kith.identity.lockdown.service import Lockdown
from kith.identity.providers.oauth2 import store as oauth
from kith.identity.providers.oauth2.consent import authorized_clients
from kith.identity.providers.oauth2.grants import service as granting
from kith.identity.providers.oauth2.tables import grants
from kith.identity.rights import hold_rights
from kith.identity.sessions import store as sessions
from kith.identity.sessions.service import end_all
from kith.identity.sessions.tables import runs
from kith.identity.users import service as user_service
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.identity.test_oauth_device import answer_page, poll, start
from tests.town import Person, Town

_held_by_an_end = query(
    select(grants.c.grant_uuid).where(grants.c.grant_uuid == bindparam("grant", type_=UID())).with_for_update(), str
)
_is_none = command(
    update(group_rows).where(group_rows.c.group_uuid == bindparam("group", type_=UID())).values(is_superuser=False)
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


async def one_loses_a_group(work: Work, id: int, group: str) -> None:
    await groups.leave(work.db, group, id)


async def the_group_loses_it(work: Work, _id: int, group: str) -> None:
    await work.db.run(_is_none, group=group)


@pytest.mark.both_databases
@pytest.mark.parametrize("ends", [one_loses_a_group, the_group_loses_it])
async def test_a_right_that_ends_while_its_holder_waits_to_write_gives_nothing(
    town: Town, ada: Person, ends: Callable[[Work, int, str], Awaitable[None]]
) -> None:
    person = await town.sign_up()
    id, group = await number_of(ada, person), await make(ada, "/core/groups/", name=new_name("all"), is_superuser=True)
    joining = f"{API}/core/groups/{group['pk']}/add_user/"
    assert (await ada.call("POST", joining, json={"pk": id})).status_code == 204
    mine = await make(person, "/core/groups/", name=new_name("mine"))

    async with begun(town) as (_, work):
        await hold_rights(work.db)
        await ends(work, id, group["pk"])
        waiting = [
            asyncio.create_task(person.call("POST", joining, json={"pk": id})),
            asyncio.create_task(
                person.call("PATCH", f"{API}/core/groups/{mine['pk']}/", json={"is_superuser": True, "users": [id]})
            ),
        ]
        await asyncio.sleep(0.5)

    assert [one.status_code for one in await asyncio.gather(*waiting)] == [403, 403]
    assert (await person.get(f"{API}/core/users/me/")).json()["is_superuser"] is False


@pytest.mark.both_databases
@pytest.mark.parametrize("wish", ["begin", "end"])
async def test_no_session_is_made_of_one_that_ends_meanwhile(town: Town, wish: str) -> None:
    """A view as somebody else begins and ends with another session of the same browser."""
    owner, (seen, _) = await town.owner(), await signed_in(town)
    id, other, thief = await number_of(owner, owner), await number_of(owner, seen), Browser(town)
    await thief.sign_in(owner)
    token = {"X-CSRF-Token": thief.http.cookies["kith_csrf"]}
    begins = f"{API}/core/users/{other}/impersonate/"
    if wish == "end":
        assert (await thief.http.post(begins, json={"reason": "help"}, headers=token)).status_code == 204
    path = begins if wish == "begin" else f"{API}/core/users/impersonate_end/"

    async with begun(town) as (_, work):
        await end_all(work, id)
        waiting = asyncio.create_task(thief.http.post(path, json={"reason": "help"}, headers=token))
        await asyncio.sleep(0.5)

    assert (await waiting).status_code == 401
    assert await thief.who() is None


@pytest.mark.both_databases
async def test_whoever_is_no_owner_any_more_gives_themselves_nothing_meanwhile(town: Town, ada: Person) -> None:
    person = await town.owner()
    id, group = await number_of(ada, person), await make(ada, "/core/groups/", name=new_name("all"), is_superuser=True)
    joining = f"{API}/core/groups/{group['pk']}/add_user/"

    async with begun(town) as (_, work):
        await user_service.set_role(work, await users.get(work.db, id), "user")
        waiting = asyncio.create_task(person.call("POST", joining, json={"pk": id}))
        await asyncio.sleep(0.5)

    assert (await waiting).status_code == 403
    assert (await person.get(f"{API}/core/users/me/")).json()["is_superuser"] is False
