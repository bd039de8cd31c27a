"""What is decided by how somebody gets in stays so until it is done: two requests at once are one after the other."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import httpx
import pytest

from kith.identity.users import store as users
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import signed_in
from tests.town import Person, Town

pytestmark = pytest.mark.both_databases

SECURITY = "/settings/security"


@asynccontextmanager
async def changing_password_of(town: Town, user_id: int) -> AsyncIterator[None]:
    """Somebody is about to take the person's password away, and has not committed yet."""
    async with town.house() as house, house.works.begin() as work:
        await users.hold(work.db, user_id)
        await users.remove_password(work.db, user_id, work.now)
        yield


async def csrf_at(browser: Browser, path: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', (await browser.http.get(path)).text)
    assert found is not None
    return found[1]


async def number_of(owner: Person, username: str) -> int:
    [person] = await results(owner, "/core/users/", username=username)
    return int(person["pk"])


async def until_they_wait(*answers: Awaitable[httpx.Response]) -> list[asyncio.Task[httpx.Response]]:
    tasks = [asyncio.ensure_future(one) for one in answers]
    await asyncio.wait(tasks, timeout=0.5)
    return tasks


async def test_a_link_ends_with_the_password_that_is_being_changed(town: Town) -> None:
    owner, victim, thief = await owner_of(town), await town.sign_up(), Browser(town)
    id = await number_of(owner, victim.username)
    link = (await owner.call("POST", f"{API}/core/users/{id}/recovery/")).json()["link"].removeprefix(town.base_url)
    await thief.see("default-authentication-flow")
    sent = {"csrf": await csrf_at(thief, link)}

    async with changing_password_of(town, id):
        [using] = await until_they_wait(thief.http.post(link, data=sent))
        assert not using.done()

    assert (await using).status_code != 303
    assert await thief.who() is None


async def test_of_two_last_ways_in_one_stays(town: Town) -> None:
    owner, (person, browser) = await owner_of(town), await signed_in(town)
    id = await number_of(owner, person.username)
    links = []
    for _ in range(2):
        name = new_name("source")
        provider = {"provider_type": "github", "consumer_key": "x", "consumer_secret": "y"}
        source = await make(owner, "/sources/oauth/", name=name, slug=name, **provider)
        about = {"user": id, "source": source["pk"], "identifier": new_name("id")}
        links.append((await make(owner, "/sources/user_connections/oauth/", **about))["pk"])
    sent = {"csrf": await csrf_at(browser, SECURITY)}

    async with changing_password_of(town, id):
        unlinking = await until_they_wait(
            *(browser.http.post(f"{SECURITY}/sources/{one}/unlink", data=sent) for one in links)
        )
        assert not any(one.done() for one in unlinking)
    await asyncio.gather(*unlinking)

    assert len(await results(owner, "/sources/user_connections/oauth/", user=id)) == 1
