"""What was given an end is over at that moment: whoever looks finds it so, and whoever was told of it is told."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, bindparam, update

from kith.base.db import Command, Instant, command
from kith.identity.endings.tasks import AT_ONCE, END, DueEnds
from kith.identity.groups.tables import members
from kith.identity.policies.bindings import bindings
from kith.identity.users import store
from kith.identity.users.tables import users
from tests.identity.flow_browser import Browser
from tests.identity.logout_receiver import Listener, listening
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.relying_party import make_party, signed_in
from tests.town import Person, Town, build_town
from tests.town.town import Engine


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


def soon(seconds: float = 2.5) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


async def id_of(ada: Person, person: Person) -> int:
    [found] = await results(ada, "/core/users/", username=person.username)
    return int(found["pk"])


async def done(person: Person, method: str, path: str, **sent: Any) -> dict[str, Any]:
    answer = await person.call(method, API + path, json=sent)
    assert answer.is_success, answer.text
    told: dict[str, Any] = answer.json() if answer.content else {}
    return told


def _ages(table: Table, key: str) -> Command:
    over = update(table).where(table.c[key] == bindparam("wanted", type_=table.c[key].type))
    return command(over.values(expires=bindparam("past", type_=Instant())))


PERSON_AGES, MEMBERS_AGE, BINDING_AGES = (
    _ages(users, "id"),
    _ages(members, "group_uuid"),
    _ages(bindings, "policy_binding_uuid"),
)


async def let_pass(town: Town, statement: Command, wanted: Any) -> None:
    """The moment is over, and nobody has noticed yet."""
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(statement, wanted=wanted, past=work.now - timedelta(seconds=1))


async def event(ada: Person, action: str, name: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            for found in await results(ada, "/audit/events/", action=action, ordering="-created", limit=50):
                if found["context"]["model"]["name"] == name or found["context"].get("user") == name:
                    return found
            await asyncio.sleep(0.1)


async def test_whoever_has_an_end_is_disabled_then_and_everybody_is_told(
    near: Town, ada: Person, listener: Listener
) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    person, browser = await signed_in(near)
    tokens = await party.tokens(browser, scope="openid offline_access")
    claims = await party.read(tokens["id_token"])
    path = f"/core/users/{await id_of(ada, person)}/"

    record = await done(ada, "PATCH", path, expires=soon())
    assert record["is_active"]
    await listener.hears(party, claims)

    assert not (await ada.get(API + path)).json()["is_active"]
    assert (await party.userinfo(tokens["access_token"])).status_code == 401
    assert (await party.refresh(tokens["refresh_token"])).status_code == 400
    assert await browser.who() is None
    assert (await person.get(f"{API}/core/users/me/")).status_code == 401
    told = await event(ada, "user_expired", person.username)
    assert told["context"]["diff"]["is_active"] == {"previous_value": True, "new_value": False}

    record = await done(ada, "PATCH", path, is_active=True)
    assert (record["is_active"], record["expires"]) == (True, None)
    assert (await person.get(f"{API}/core/users/me/")).status_code == 200


async def test_nobody_enters_after_their_end_although_nobody_has_noticed(near: Town, ada: Person) -> None:
    party = await make_party(near, ada)
    person, browser = await signed_in(near)
    tokens = await party.tokens(browser, scope="openid offline_access")
    me = f"{API}/core/users/me/"
    key = (await make(person, "/core/tokens/", identifier=new_name("key")))["key"]
    bearer = {"Authorization": f"Bearer {key}"}
    assert (await near.http.get(me, headers=bearer)).status_code == 200
    assert (await person.get(me)).status_code == 200

    await let_pass(near, PERSON_AGES, await id_of(ada, person))

    assert (await person.get(me)).status_code == 401
    assert (await near.http.get(me, headers=bearer)).status_code == 401
    assert (await party.userinfo(tokens["access_token"])).status_code == 401
    assert (await party.refresh(tokens["refresh_token"])).status_code == 400
    assert await browser.who() is None
    again = Browser(near)
    assert "disabled" in str(await again.sign_in(person))
    assert await again.who() is None


async def test_the_last_superuser_has_no_end(near: Town, ada: Person) -> None:
    path = f"{API}/core/users/{await id_of(ada, ada)}/"
    others = [
        one["pk"]
        for one in await results(ada, "/core/users/")
        if one["is_superuser"] and one["is_active"] and one["username"] != ada.username
    ]
    assert others == []
    answer = await ada.call("PATCH", path, json={"expires": soon(3600)})
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "The last active superuser cannot be given an end.",
    )


@pytest.mark.parametrize("expires", ["2020-01-01T00:00:00Z", "yesterday", 17, "0001-01-01T00:00:00+23:59"])
async def test_an_end_lies_in_the_future(near: Town, ada: Person, expires: Any) -> None:
    person = await near.sign_up()
    user = await id_of(ada, person)
    group = await make(ada, "/core/groups/", name=new_name("crew"))
    for method, path, sent in (
        ("PATCH", f"/core/users/{user}/", {}),
        ("POST", f"/core/groups/{group['pk']}/add_user/", {"pk": user}),
    ):
        answer = await ada.call(method, API + path, json={**sent, "expires": expires})
        assert answer.status_code == 400, answer.text
        assert set(answer.json()) == {"expires"}
    assert (await ada.get(f"{API}/core/groups/{group['pk']}/")).json()["user_set"] == []


async def test_a_membership_ends_and_applications_that_were_told_of_it_ask_again(
    near: Town, ada: Person, listener: Listener
) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    person, browser = await signed_in(near)
    user = await id_of(ada, person)
    group = await make(ada, "/core/groups/", name=new_name("crew"))
    await done(ada, "POST", f"/core/groups/{group['pk']}/add_user/", pk=user, expires=soon(3600))
    tokens = await party.tokens(browser, scope="openid profile offline_access")
    claims = await party.read(tokens["id_token"])
    assert group["name"] in claims["groups"]

    await done(ada, "POST", f"/core/groups/{group['pk']}/add_user/", pk=user, expires=soon())
    await listener.hears(party, claims)

    assert (await party.userinfo(tokens["access_token"])).status_code == 401
    renewed = await party.refresh(tokens["refresh_token"])
    assert group["name"] not in (await party.read(renewed.json()["id_token"]))["groups"]
    assert await browser.who() == person.username
    told = await event(ada, "membership_expired", group["name"])
    assert told["context"]["member"] == {"pk": user, "username": person.username}


async def test_nobody_is_a_member_after_the_end_although_nobody_has_noticed(near: Town, ada: Person) -> None:
    role = await make(ada, "/rbac/roles/", name=new_name("role"), permissions=["core.view_role", "rbac.view_role"])
    group = await make(ada, "/core/groups/", name=new_name("crew"), roles=[role["pk"]])
    person = await near.sign_up()
    user = await id_of(ada, person)
    await done(ada, "POST", f"/core/groups/{group['pk']}/add_user/", pk=user, expires=soon(3600))
    assert (await person.get(f"{API}/rbac/roles/")).status_code == 200
    [listed] = (await ada.get(f"{API}/core/groups/{group['pk']}/members/")).json()["results"]
    assert (listed["user"], listed["username"]) == (user, person.username)

    await let_pass(near, MEMBERS_AGE, group["pk"])

    assert (await person.get(f"{API}/rbac/roles/")).status_code == 403
    assert (await ada.get(f"{API}/core/groups/{group['pk']}/")).json()["user_set"] == []
    assert (await ada.get(f"{API}/core/users/{user}/")).json()["groups"] == []
    assert (await ada.get(f"{API}/core/groups/{group['pk']}/members/")).json()["count"] == 0
    assert await results(ada, "/core/users/", groups_by_name=group["name"]) == []

    await done(ada, "PATCH", f"/core/users/{user}/", groups=[group["pk"]])
    [listed] = (await ada.get(f"{API}/core/groups/{group['pk']}/members/")).json()["results"]
    assert listed["expires"] is None


async def test_a_binding_ends_and_never_opens_the_application(near: Town, ada: Person, listener: Listener) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    person, browser = await signed_in(near)
    user = await id_of(ada, person)
    given = {"target": party.application["pk"], "order": 0}
    binding = await make(ada, "/policies/bindings/", user=user, expires=soon(3600), **given)
    assert binding["expiring"]
    tokens = await party.tokens(browser, scope="openid")
    claims = await party.read(tokens["id_token"])

    await done(ada, "PATCH", f"/policies/bindings/{binding['pk']}/", expires=soon())
    await listener.hears(party, claims)

    check = f"{API}/core/applications/{party.application['pk']}/check_access/"
    assert not (await person.get(check)).json()["passing"]
    assert not (await ada.get(check)).json()["passing"]
    await event(ada, "binding_expired", binding["pk"])

    await done(ada, "PATCH", f"/policies/bindings/{binding['pk']}/", expires=soon(3600), negate=True)
    assert not (await person.get(check)).json()["passing"]
    assert (await ada.get(check)).json()["passing"]
    await let_pass(near, BINDING_AGES, binding["pk"])
    assert not (await ada.get(check)).json()["passing"]


async def test_members_are_added_and_removed_by_those_who_may(near: Town, ada: Person) -> None:
    role = await make(ada, "/rbac/roles/", name=new_name("role"), permissions=["core.view_user"])
    plain = await make(ada, "/core/groups/", name=new_name("crew"))
    more = await make(ada, "/core/groups/", name=new_name("crew"), roles=[role["pk"]])
    most = await make(ada, "/core/groups/", name=new_name("crew"), is_superuser=True)
    helper = await person_who_may(near, ada, "core.change_group", "core.view_group")
    user = await id_of(ada, helper)

    async def added(person: Person, group: dict[str, Any], word: str = "add_user", pk: Any = user) -> int:
        answer = await person.call("POST", f"{API}/core/groups/{group['pk']}/{word}/", json={"pk": pk})
        return answer.status_code

    assert await added(helper, plain) == 204
    assert [await added(helper, group) for group in (more, most)] == [403, 403]
    assert await added(await near.sign_up(), plain) == 403
    assert [await added(ada, plain, pk=pk) for pk in (None, "x", 99_999_999, True)] == [400] * 4
    assert await added(ada, {"pk": "x"}) == 404
    assert await added(helper, plain, "remove_user") == 204
    assert (await ada.get(f"{API}/core/groups/{plain['pk']}/")).json()["user_set"] == []


async def test_nobody_makes_what_they_have_until_a_moment_last_longer(near: Town, ada: Person) -> None:
    rights = [f"core.{verb}_{what}" for verb in ("add", "change", "view") for what in ("user", "group")]
    role = (await make(ada, "/rbac/roles/", name=new_name("role"), permissions=[*rights, "rbac.change_role"]))["pk"]
    empty = (await make(ada, "/rbac/roles/", name=new_name("role"), permissions=[]))["pk"]
    deputy, friend = await near.sign_up(), await near.sign_up()
    user, other = await id_of(ada, deputy), await id_of(ada, friend)
    helpers = (await make(ada, "/core/groups/", name=new_name("helpers"), roles=[role]))["pk"]
    plain = (await make(ada, "/core/groups/", name=new_name("plain"), user_set=[user]))["pk"]
    trial = (await make(ada, "/core/groups/", name=new_name("trial")))["pk"]
    await done(ada, "PATCH", f"/core/users/{user}/", roles=[empty], expires=soon(7200))
    for group in (helpers, trial):
        await done(ada, "POST", f"/core/groups/{group}/add_user/", pk=user, expires=soon(3600))
    tries: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", f"/core/groups/{helpers}/add_user/", {"pk": user}),
        ("POST", f"/core/groups/{helpers}/add_user/", {"pk": user, "expires": None}),
        ("POST", f"/core/groups/{helpers}/add_user/", {"pk": user, "expires": soon(9000)}),
        ("POST", f"/core/groups/{trial}/add_user/", {"pk": user}),
        ("PATCH", f"/core/users/{user}/", {"expires": None}),
        ("PATCH", f"/core/users/{user}/", {"expires": soon(9000)}),
        ("PATCH", f"/core/users/{user}/", {"roles": [role]}),
        ("POST", "/core/groups/", {"name": new_name("own"), "roles": [role], "user_set": [user]}),
        ("POST", "/core/groups/", {"name": new_name("own"), "parent": helpers, "user_set": [user]}),
        ("PATCH", f"/core/groups/{plain}/", {"roles": [role]}),
        ("PATCH", f"/core/groups/{plain}/", {"parent": helpers}),
        ("PATCH", f"/rbac/roles/{empty}/", {"permissions": rights}),
    ]

    told = [(await deputy.call(method, API + path, json=sent)).status_code for method, path, sent in tries]

    assert told == [403] * 4 + [400] * 2 + [403] * 6, told
    # What is no more than they have, and what they do for others, goes on.
    await done(deputy, "PATCH", f"/core/users/{user}/", expires=soon(3600), name="Deputy")
    await done(deputy, "POST", f"/core/groups/{helpers}/add_user/", pk=other)
    await done(deputy, "PATCH", f"/core/groups/{plain}/", user_set=[user, other])
    await done(deputy, "POST", f"/core/groups/{helpers}/add_user/", pk=user, expires=soon(1800))
    await done(friend, "POST", f"/core/groups/{helpers}/add_user/", pk=user, expires=None)


async def test_an_end_that_comes_while_the_server_is_down_is_told_when_it_is_back(
    engine: Engine, tmp_path: Path, listener: Listener
) -> None:
    async with build_town(engine, tmp_path / "town", private_hosts="127.0.0.1") as town:
        ada = await town.owner()
        party = await make_party(town, ada, logout_uri=listener.url)
        person, browser = await signed_in(town)
        tokens = await party.tokens(browser, scope="openid")
        claims = await party.read(tokens["id_token"])
        await done(ada, "PATCH", f"/core/users/{await id_of(ada, person)}/", expires=soon(0.5))
        await town.kill()
        await town.start()
        await listener.hears(party, claims)
        assert (await party.userinfo(tokens["access_token"])).status_code == 401


async def test_a_command_sets_an_end_and_takes_it_back(near: Town, ada: Person, listener: Listener) -> None:
    party = await make_party(near, ada, logout_uri=listener.url)
    person, browser = await signed_in(near)
    claims = await party.read((await party.tokens(browser, scope="openid"))["id_token"])
    path = f"{API}/core/users/{await id_of(ada, person)}/"
    assert "ends at 2101-01-01 00:00:00 UTC" in await near.kith("users", "set-end", person.username, "2100-12-31")
    assert (await ada.get(path)).json()["expires"] == "2101-01-01T00:00:00.000000Z"
    assert "has no end" in await near.kith("users", "set-end", person.username, "never")
    assert (await ada.get(path)).json()["expires"] is None
    for wrong in ("tomorrow", "2020-01-01", "9999-12-31"):
        await near.kith("users", "set-end", person.username, wrong, expect=1)
    assert "superuser" in await near.kith("users", "set-end", ada.username, "2100-12-31", expect=1)
    await near.kith("users", "set-end", person.username, soon())
    await listener.hears(party, claims)
    assert "active" in await near.kith("users", "enable", person.username)
    assert (await ada.get(path)).json()["expires"] is None


async def test_whoever_has_an_end_is_told_in_their_settings(near: Town, ada: Person) -> None:
    person, browser = await signed_in(near)
    await done(ada, "PATCH", f"/core/users/{await id_of(ada, person)}/", expires="2100-01-01T00:00:00Z")
    page = await browser.http.get("/settings/security")
    assert "Your account ends:" in page.text
    assert "2100-01-01" in page.text


async def test_a_crowd_that_ends_at_once_ends_to_the_last_one(near: Town, ada: Person) -> None:
    crowd, count = new_name("crowd"), 2 * AT_ONCE + 1
    async with near.house() as house, house.works.begin() as work:
        past = work.now - timedelta(seconds=1)
        moments = dict.fromkeys(("created_at", "updated_at", "confirmed_at", "approved_at"), past)
        plain = {"email": "", "password": None, "is_active": True, "role": "user", "type": "internal"}
        never = dict.fromkeys(("last_login_at", "password_changed_at"))
        rows = [
            {"uuid": str(uuid.uuid4()), "username": f"{crowd}-{number}", "name": crowd, "path": crowd, "attributes": {}}
            for number in range(count)
        ]
        await store.insert_many(work.db, [row | plain | moments | never | {"expires": past} for row in rows])
        work.enqueue(END, DueEnds())
    async with asyncio.timeout(60):
        while await results(ada, "/core/users/", name=crowd, is_active="true"):
            await asyncio.sleep(0.1)
    assert len(await results(ada, "/core/users/", name=crowd, is_active="false")) == count
    events = await results(ada, "/audit/events/", action="user_expired")
    assert len([one for one in events if one["context"]["model"]["name"].startswith(crowd)]) == count
