"""Somebody deletes their account, or has it deleted: on every other server nothing of theirs is left."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.federation.asking import ask
from tests.federation.two_servers import arrived, find_post, follow, handle, home, is_gone, relation, shows, three_towns
from tests.identity.flow_browser import Browser
from tests.social.members import Member, join, until
from tests.social.posts import does, post
from tests.town import Town
from tests.town.people import Person
from tests.town.town import Engine

Towns = tuple[Town, Town, Town]
End = Callable[[Member], Awaitable[None]]
UNENROLLMENT = "default-unenrollment-flow"


@pytest.fixture(scope="module")
async def towns(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Towns]:
    """The second one demands to know who asks."""
    async with three_towns(engine, tmp_path_factory.mktemp("leaving"), b={"secure_mode": "on"}) as built:
        yield built


async def by_oneself(ada: Member) -> None:
    """As the settings page does it."""
    browser = Browser(ada.town)
    await browser.sign_in(Person(ada.town.http, ada.name, f"correct horse {ada.name}"))
    await browser.see(UNENROLLMENT)
    await browser.answer(UNENROLLMENT, component="password", password=f"correct horse {ada.name}")
    await browser.answer(UNENROLLMENT, component="userdelete")


async def by_identity(ada: Member) -> None:
    owner = await ada.town.owner()
    [found] = (await owner.get("/api/v2/core/users/", params={"username": ada.name})).json()["results"]
    assert (await owner.call("DELETE", f"/api/v2/core/users/{found['pk']}/")).status_code == 204


async def by_command(ada: Member) -> None:
    for verb in ("suspend", "delete"):
        await ada.town.kith("accounts", verb, ada.name)


@pytest.mark.parametrize("end", [by_oneself, by_identity, by_command])
async def test_whoever_leaves_leaves_nothing_anywhere(towns: Towns, end: End) -> None:
    """Bob follows, Cy is followed, Dan only came across a post that Bob has boosted."""
    ada, bob, cy = [await join(town) for town in towns]
    dan = await join(towns[2])
    ada_at_b, cy_at_a = await follow(bob, ada), await follow(ada, cy)
    await follow(dan, bob)
    said = await post(ada, f"@{handle(cy)} hello")
    at_b = await arrived(bob, said["uri"])
    await does(bob, "reblog", at_b["id"])
    secret = await arrived(bob, (await post(ada, "only for some", visibility="private"))["uri"])
    at_c = await find_post(cy, said["uri"])
    answered = await post(cy, "to be liked")
    at_a = await arrived(ada, answered["uri"])
    await does(ada, "favourite", at_a["id"])
    await shows(cy, f"/api/v1/statuses/{answered['id']}", lambda one: one["favourites_count"] == 1)
    assert cy_at_a
    ada_at_c = at_c["account"]["id"]

    await end(ada)

    async def is_over() -> bool:
        return (await ask(ada.town, f"/users/{ada.name}")).status_code == 410

    await until(is_over)
    for uri in (f"/users/{ada.name}/statuses/{said['id']}", f"/users/{ada.name}/outbox"):
        assert (await ask(ada.town, uri)).status_code == 410, uri
    for member, id in ((bob, ada_at_b), (cy, ada_at_c), (dan, ada_at_c)):
        await is_gone(member, f"/api/v1/accounts/{id}")
    for member, id in ((bob, at_b["id"]), (bob, secret["id"]), (cy, at_c["id"]), (dan, at_c["id"])):
        await is_gone(member, f"/api/v1/statuses/{id}")

    async def is_forgotten() -> bool:
        told = [one["account"]["id"] for one in await cy.get("/api/v1/notifications")]
        boosted = [one for one in await home(dan) if one["reblog"]]
        followers = await cy.get(f"/api/v1/accounts/{cy.id}/followers")
        return ada_at_c not in told and not boosted and not followers

    await until(is_forgotten)
    await shows(cy, f"/api/v1/statuses/{answered['id']}", lambda one: one["favourites_count"] == 0)
    for one in (bob, cy):
        found = await one.get("/api/v2/search", params={"q": handle(ada), "resolve": "true"})
        assert found["accounts"] == []


# Secure mode between servers of ours


async def test_a_server_that_demands_signatures_knows_its_neighbours(towns: Towns) -> None:
    bob, ada, cy = [await join(town) for town in towns]
    await follow(bob, ada)
    await follow(cy, ada)
    ada_at_c = (await cy.get("/api/v2/search", params={"q": handle(ada), "type": "accounts"}))["accounts"][0]["id"]
    said, secret = await post(ada, "Hello"), await post(ada, "Only for some", visibility="private")

    for member in (bob, cy):
        known = await arrived(member, said["uri"])
        await arrived(member, secret["uri"])
        await post(member, f"@{handle(ada)} yes", in_reply_to_id=known["id"])
    await shows(ada, f"/api/v1/statuses/{said['id']}", lambda one: one["replies_count"] == 2)
    before = await post(await join(towns[1]), "Said to nobody")
    assert "Said to nobody" in (await find_post(cy, before["uri"]))["content"]
    assert await relation(cy, ada_at_c, "following")
    for uri in (ada.me["uri"], said["uri"], secret["uri"], f"{ada.me['uri']}/outbox?page=true"):
        assert (await ask(ada.town, uri)).status_code == 401, uri
    assert (await ask(ada.town, "/actor")).status_code == 200
