"""Whoever leaves, leaves everywhere: clients are told in whatever way somebody's stay with us ends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import bindparam, select, update

from kith.app import House
from kith.base.db import Instant, command, query
from kith.base.jobs.tables import jobs
from tests.identity.flow_browser import Browser
from tests.identity.logout_receiver import Listener, listening, read
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.identity.test_oauth_device import answer_page, poll, start
from tests.identity.test_oauth_token import until
from tests.town import Person, Town, build_town
from tests.town.town import Engine

UNENROLL = "default-unenrollment-flow"


@pytest.fixture(scope="module")
async def near(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town that may call this very computer."""
    async with build_town(engine, tmp_path_factory.mktemp("near"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with listening() as made:
        yield made


@pytest.fixture
async def ada(near: Town) -> Person:
    return await owner_of(near)


class Guest:
    """Somebody who is signed in at a client by us."""

    def __init__(self, person: Person, browser: Browser, tokens: dict[str, Any], claims: dict[str, Any]) -> None:
        self.person = person
        self.browser = browser
        self.tokens = tokens
        self.claims = claims


async def guest_at(party: RelyingParty, scope: str = "openid", person: Person | None = None) -> Guest:
    who, browser = await signed_in(party.town, person)
    tokens = await party.tokens(browser, scope=scope)
    return Guest(who, browser, tokens, await party.read(tokens["id_token"]))


async def user_of(ada: Person, guest: Guest) -> str:
    [found] = await results(ada, "/core/users/", username=guest.person.username)
    return f"{API}/core/users/{found['pk']}/"


async def done(person: Person, method: str, path: str, **sent: Any) -> None:
    answer = await person.call(method, path, **({"json": sent} if sent else {}))
    assert answer.is_success, answer.text


async def is_dead(party: RelyingParty, guest: Guest) -> bool:
    return (await party.userinfo(guest.tokens["access_token"])).status_code == 401


async def test_whoever_is_disabled_or_deleted_is_signed_out_everywhere(
    near: Town, ada: Person, listener: Listener
) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)

    guest = await guest_at(party, "openid offline_access")
    await done(ada, "PATCH", await user_of(ada, guest), is_active=False)
    await listener.hears(party, guest.claims)
    assert await is_dead(party, guest)

    guest = await guest_at(party)
    await near.kith("users", "disable", guest.person.username)
    await listener.hears(party, guest.claims)

    guest = await guest_at(party, "openid offline_access")
    await done(ada, "DELETE", await user_of(ada, guest))
    await listener.hears(party, guest.claims)
    assert await is_dead(party, guest)

    guest = await guest_at(party)
    await guest.browser.see(UNENROLL)
    await guest.browser.answer(UNENROLL, component="password", password=guest.person.password)
    await guest.browser.answer(UNENROLL, component="userdelete")
    await listener.hears(party, guest.claims)
    assert await is_dead(party, guest)


async def test_whoever_is_let_in_again_at_once_was_out_all_the_same(
    near: Town, ada: Person, listener: Listener
) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    guest = await guest_at(party, "openid offline_access")
    path = await user_of(ada, guest)
    await done(ada, "PATCH", path, is_active=False)
    await done(ada, "PATCH", path, is_active=True)
    await listener.hears(party, guest.claims)
    assert await is_dead(party, guest)
    assert (await party.refresh(guest.tokens["refresh_token"])).status_code == 400
    assert await guest.browser.who() is None


async def test_what_outlasts_a_session_ends_with_the_person(near: Town, ada: Person, listener: Listener) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    guest = await guest_at(party, "openid offline_access")
    await guest.browser.sign_out()
    await listener.hears(party, guest.claims)
    assert (await party.refresh(guest.tokens["refresh_token"])).status_code == 200
    await done(ada, "DELETE", await user_of(ada, guest))
    await listener.hears(party, {"sub": guest.claims["sub"]})

    person, browser = await signed_in(near)
    started = await start(party)
    await answer_page(browser, started["user_code"], "allow")
    claims = await party.read((await poll(party, started)).json()["id_token"])
    assert "sid" not in claims
    guest = Guest(person, browser, {}, claims)
    await done(ada, "PATCH", await user_of(ada, guest), is_active=False)
    await listener.hears(party, claims)


async def test_a_new_password_and_somebody_elses_eyes_end_sessions(near: Town, ada: Person, listener: Listener) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    guest = await guest_at(party)
    path = f"{await user_of(ada, guest)}set_password/"
    answer = await ada.call("POST", path, json={"password": "correct horse again"})
    assert answer.status_code == 204, answer.text
    await listener.hears(party, guest.claims)

    owner = await near.owner()
    guest = await guest_at(party, person=owner)
    seen = await near.sign_up()
    page = await guest.browser.http.get("/settings/security")
    csrf = re.findall(r'name="csrf" value="([^"]+)"', page.text)[0]
    began = await guest.browser.http.post(
        "/settings/impersonate", data={"csrf": csrf, "username": seen.username, "reason": "asked to"}
    )
    assert began.status_code == 303, began.text
    await listener.hears(party, guest.claims)


async def test_a_new_password_ends_what_was_granted_elsewhere_before(
    near: Town, ada: Person, listener: Listener
) -> None:
    """Somebody with the old password may have got tokens that last, or have approved a device."""
    party = await make_party(near, ada, logout_uri=listener.url)
    own = await guest_at(party, "openid offline_access")
    thief = await guest_at(party, "openid offline_access", person=own.person)
    code, verifier = await party.code(thief.browser, scope="openid offline_access")
    used, waiting = await start(party), await start(party)
    for started in (used, waiting):
        await answer_page(thief.browser, started["user_code"], "allow")
    device = (await poll(party, used)).json()

    flow = "default-password-change"
    await own.browser.see(flow)
    await own.browser.answer(flow, component="password", password=own.person.password)
    new: dict[str, Any] = dict.fromkeys(("password", "password_repeat"), "another horse, another staple")
    copied = own.browser.http.cookies["kith_session"]
    changed = await own.browser.answer(flow, component="prompt", **new)
    assert changed["component"] == "redirect"
    assert await own.browser.who() == own.person.username
    async with httpx.AsyncClient(base_url=near.base_url, cookies={"kith_session": copied}) as thiefs:
        assert (await thiefs.get(f"{API}/core/users/me/")).status_code == 401

    told = {(await read(party, await listener.next())).get("sid") for _ in range(2)}
    assert told == {thief.claims["sid"], None}
    await until(lambda: party.userinfo(device["access_token"]), 401)
    assert await is_dead(party, thief)
    assert (await poll(party, waiting)).json()["error"] == "invalid_grant"
    refused = [
        await party.refresh(thief.tokens["refresh_token"]),
        await party.refresh(device["refresh_token"]),
        await party.trade(code, verifier),
    ]
    assert [answer.json()["error"] for answer in refused] == ["invalid_grant"] * 3
    assert (await party.refresh(own.tokens["refresh_token"])).status_code == 200


async def test_a_consent_that_is_taken_back_is_told(near: Town, ada: Person, listener: Listener) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    guest = await guest_at(party, "openid offline_access")
    page = await guest.browser.http.get("/oauth/authorized_applications")
    csrf = re.findall(r'name="csrf" value="([^"]+)"', page.text)[0]
    [where] = set(re.findall(r'action="(/oauth/authorized_applications/[^"]+)"', page.text))
    assert (await guest.browser.http.post(where, data={"csrf": csrf})).status_code == 303
    await listener.hears(party, guest.claims)
    assert await is_dead(party, guest)


@pytest.mark.parametrize("alg", ["RS256", "HS256"])
async def test_clients_hear_of_it_when_they_are_taken_away(
    near: Town, ada: Person, listener: Listener, alg: str
) -> None:
    party = await make_party(near, ada, logout_uri=listener.url, jwt_alg=alg)
    guest, other = await guest_at(party), await guest_at(party, "openid offline_access")
    await done(ada, "DELETE", f"{API}/core/applications/{party.application['pk']}/")
    await listener.hears(party, guest.claims, other.claims)
    assert await is_dead(party, other)

    party = await make_party(near, ada, logout_uri=listener.url, jwt_alg=alg)
    guest, other = await guest_at(party), await guest_at(party, "openid offline_access")
    await done(ada, "DELETE", f"{API}/providers/openid/{party.provider['pk']}/")
    await listener.hears(party, guest.claims, other.claims)
    assert await is_dead(party, other)

    party = await make_party(near, ada, logout_uri=listener.url, jwt_alg=alg)
    guest = await guest_at(party)
    await done(ada, "PATCH", f"{API}/core/applications/{party.application['pk']}/", provider=None)
    await listener.hears(party, guest.claims)


async def test_whoever_loses_the_right_to_enter_is_signed_out_there(
    near: Town, ada: Person, listener: Listener
) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    person, stays = await near.sign_up(), await near.sign_up()
    ids = [
        found["pk"] for one in (person, stays) for found in await results(ada, "/core/users/", username=one.username)
    ]
    group = await make(ada, "/core/groups/", name=new_name("crew"), user_set=ids)
    await make(ada, "/policies/bindings/", group=group["pk"], target=party.application["pk"], order=0)
    guest, other = await guest_at(party, person=person), await guest_at(party, person=stays)

    await done(ada, "PATCH", f"{API}/core/users/{ids[0]}/", groups=[])
    await listener.hears(party, guest.claims)
    assert await is_dead(party, guest)
    assert not await is_dead(party, other)

    await done(ada, "PATCH", f"{API}/core/groups/{group['pk']}/", user_set=[ids[0]])
    await listener.hears(party, other.claims)

    guest = await guest_at(party, "openid offline_access", person=person)
    words = "return False"
    policy = await make(ada, "/policies/expression/", name=new_name("no"), expression=words)
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=party.application["pk"], order=1)
    await listener.hears(party, guest.claims)
    assert await is_dead(party, guest)
    assert (await party.refresh(guest.tokens["refresh_token"])).status_code == 403

    await done(ada, "PATCH", f"{API}/policies/expression/{policy['pk']}/", expression="return True")
    assert (await party.refresh(guest.tokens["refresh_token"])).status_code == 200


_due = command(
    update(jobs).where(jobs.c.kind == "identity.oauth_back_channel").values(run_at=bindparam("now", type_=Instant()))
)
_waits = query(
    select(jobs.c.attempts, jobs.c.run_at, jobs.c.payload).where(jobs.c.kind == "identity.oauth_back_channel"), tuple
)


async def _pause_after(house: House, attempt: int) -> timedelta:
    async with asyncio.timeout(60):
        while True:
            async with house.works.begin() as work:
                waiting = await work.db.one(_waits)
            if waiting is not None and waiting[0] == attempt and waiting[1] > work.now:
                pause: timedelta = waiting[1] - work.now
                return pause
            await asyncio.sleep(0.05)


async def test_a_client_in_trouble_is_told_later_and_ever_later(near: Town, ada: Person, listener: Listener) -> None:
    party = await make_party(near, ada, logout_uri=listener.url, jwt_alg="HS256")
    guest = await guest_at(party)
    listener.failures = 2
    await done(ada, "DELETE", await user_of(ada, guest))
    pauses = []
    async with near.house() as house:
        for attempt in (1, 2):
            pauses.append(await _pause_after(house, attempt))
            async with house.works.begin() as work:
                [(_, _, payload)] = await work.db.all(_waits)
                assert party.secret not in payload
                await work.db.run(_due, now=work.now)
    await listener.hears(party, guest.claims)
    assert pauses[1] > pauses[0]
