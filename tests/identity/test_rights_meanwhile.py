"""Whoever draws out what they send may do no more than when its end comes: rights that have ended meanwhile give nothing,
and whoever has become mightier meanwhile is out of reach."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
import pytest

from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.scim_service import USER, make_service
from tests.identity.test_ended_meanwhile import called, slowly
from tests.town import Person, Town

JSON = {"Content-Type": "application/json"}


class Drawn(msgspec.Struct):
    """A request whose last byte comes late, what happens before that, and whether the request has done anything."""

    path: str
    body: bytes
    headers: dict[str, str]
    meanwhile: Callable[[], Awaitable[Any]]
    has_done: Callable[[], Awaitable[bool]]


def long(**sent: Any) -> bytes:
    """Too long to be taken in before anybody is let in."""
    return b" " * 200_000 + json.dumps(sent).encode()


def by_password(person: Person) -> dict[str, str]:
    pair = f"{person.username}:{person.password}"
    return JSON | {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


async def number_of(owner: Person, person: Person) -> int:
    [found] = await results(owner, "/core/users/", username=person.username)
    return int(found["pk"])


async def token_of(town: Town, person: Person, scopes: str) -> dict[str, str]:
    key = await town.kith("tokens", "create", person.username, "--scopes", scopes)
    return {"Authorization": f"Bearer {key.strip()}"}


async def a_superuser_who_is_none_any_more(town: Town, owner: Person) -> Drawn:
    person = await town.sign_up()
    pk, group = (
        await number_of(owner, person),
        await make(owner, "/core/groups/", name=new_name("all"), is_superuser=True),
    )
    path = f"{API}/core/groups/{group['pk']}/"
    await owner.call("POST", f"{path}add_user/", json={"pk": pk})

    async def is_one() -> bool:
        return bool((await person.get(f"{API}/core/users/me/")).json()["is_superuser"])

    async def leaves() -> None:
        await owner.call("POST", f"{path}remove_user/", json={"pk": pk})

    return Drawn(f"{path}add_user/", long(pk=pk), by_password(person), leaves, is_one)


async def a_delegate_whose_role_is_taken_away(town: Town, owner: Person) -> Drawn:
    person, name = await person_who_may(town, owner, "core.add_application"), new_name("late")
    path = f"{API}/core/users/{await number_of(owner, person)}/"

    async def is_there() -> bool:
        return bool(await results(owner, "/core/applications/", slug=name))

    async def ends() -> None:
        await owner.call("PATCH", path, json={"roles": []})

    return Drawn(f"{API}/core/applications/", long(name=name, slug=name), by_password(person), ends, is_there)


async def somebody_who_becomes_an_owner(town: Town, owner: Person) -> Drawn:
    delegate = await person_who_may(town, owner, "core.reset_user_password", "core.view_user")
    person = await town.sign_up()
    path = f"{API}/core/users/{await number_of(owner, person)}/set_password/"
    password = "something that the delegate knows"

    async def rises() -> None:
        await town.kith("users", "set-role", person.username, "owner")

    async def knows() -> bool:
        known = by_password(Person(town.http, person.username, password))
        return (await town.http.get(f"{API}/core/users/me/", headers=known)).status_code == 200

    return Drawn(path, long(password=password), by_password(delegate), rises, knows)


async def a_moderator_who_is_none_any_more(town: Town, owner: Person) -> Drawn:
    moderator, member = await town.sign_up(role="moderator"), await town.sign_up()
    mine = (
        await town.http.get("/api/v1/accounts/verify_credentials", headers=await token_of(town, member, "read"))
    ).json()
    path = f"/api/v1/admin/accounts/{mine['id']}"
    staff, key = await token_of(town, moderator, "admin:write"), await token_of(town, owner, "admin:read")

    async def ends() -> None:
        await town.kith("users", "set-role", moderator.username, "user")

    async def is_silenced() -> bool:
        return bool((await town.http.get(path, headers=key)).json()["silenced"])

    return Drawn(f"{path}/action", long(type="silence"), JSON | staff, ends, is_silenced)


async def an_administrator_at_a_page(town: Town, _owner: Person) -> Drawn:
    boss, member, browser = await town.sign_up(role="administrator"), await town.sign_up(), Browser(town)
    await browser.sign_in(boss)
    await browser.http.get("/staff/lockdown/")
    cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())
    sent = {"csrf": browser.http.cookies["kith_csrf"], "username": member.username, "confirm": member.username}
    body = urlencode(sent | {**{f"more{n}": "x" * 20_000 for n in range(8)}, "reason": "because"}).encode()

    async def ends() -> None:
        await town.kith("users", "set-role", boss.username, "user")

    async def is_locked() -> bool:
        return (await member.get(f"{API}/core/users/me/")).status_code != 200

    headers = {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded"}
    return Drawn("/staff/lockdown/", body, headers, ends, is_locked)


async def _service(town: Town, owner: Person, ends: Callable[[str], Awaitable[Any]]) -> Drawn:
    service, name = await make_service(town), new_name("late").replace("-", "_")
    path = f"{urlsplit(service.source['root_url']).path.rstrip('/')}/Users"
    headers = {"Authorization": f"Bearer {service.token}", "Content-Type": "application/scim+json"}

    async def is_there() -> bool:
        return bool(await results(owner, "/core/users/", username=name))

    place = f"{API}/sources/scim/{service.source['pk']}/"
    return Drawn(path, long(schemas=[USER], userName=name), headers, lambda: ends(place), is_there)


async def a_service_whose_token_is_replaced(town: Town, owner: Person) -> Drawn:
    return await _service(town, owner, lambda place: owner.call("POST", f"{place}new_token/"))


async def a_service_whose_source_is_turned_off(town: Town, owner: Person) -> Drawn:
    return await _service(town, owner, lambda place: owner.call("PATCH", place, json={"enabled": False}))


@pytest.mark.parametrize(
    "who",
    [
        a_superuser_who_is_none_any_more,
        a_delegate_whose_role_is_taken_away,
        somebody_who_becomes_an_owner,
        a_moderator_who_is_none_any_more,
        an_administrator_at_a_page,
        a_service_whose_token_is_replaced,
        a_service_whose_source_is_turned_off,
    ],
    ids=called,
)
async def test_what_is_drawn_out_does_no_more_than_at_its_end(
    town: Town, who: Callable[[Town, Person], Awaitable[Drawn]]
) -> None:
    drawn = await who(town, await owner_of(town))

    async def meanwhile() -> None:
        await drawn.meanwhile()
        assert not await drawn.has_done()

    status = await slowly(town, drawn.path, drawn.body, drawn.headers, meanwhile())

    assert status in (401, 403, 404), status
    assert not await drawn.has_done()
