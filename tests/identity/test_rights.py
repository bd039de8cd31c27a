"""Who may do what: nobody grants what they lack, and what is taken away is gone at the next request."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.conftest import TownBuilder
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.town import Person, Town

USERS, GROUPS, ROLES, TOKENS = "/core/users/", "/core/groups/", "/rbac/roles/", "/core/tokens/"
CLERK = ("core.view_user", "core.add_user", "core.change_user", "core.delete_user")


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def id_of(person: Person) -> int:
    me: dict[str, Any] = (await person.get(f"{API}/core/users/me/")).json()
    return int(me["pk"])


async def patch(person: Person, path: str, pk: object, **fields: Any) -> httpx.Response:
    return await person.call("PATCH", f"{API}{path}{pk}/", json=fields)


async def role(ada: Person, *permissions: str) -> str:
    made = await make(ada, ROLES, name=new_name("role"), permissions=list(permissions))
    return str(made["pk"])


async def group(ada: Person, **fields: Any) -> str:
    return str((await make(ada, GROUPS, name=new_name("group"), **fields))["pk"])


# What a clerk may not do


async def test_a_clerk_changes_people_but_makes_no_superuser(town: Town, ada: Person) -> None:
    clerk, bob = await person_who_may(town, ada, *CLERK), await town.sign_up()
    mine, his = await id_of(clerk), await id_of(bob)
    mighty = await group(ada, is_superuser=True)
    below = await group(ada, parent=mighty)

    assert (await patch(clerk, USERS, his, name="Robert")).status_code == 200
    for pk in (mine, his):
        for one in (mighty, below):
            refused = await patch(clerk, USERS, pk, groups=[one])
            assert (refused.status_code, set(refused.json())) == (400, {"groups"})
    made = await clerk.call("POST", API + USERS, json={"username": new_name("x"), "name": "X", "groups": [mighty]})
    assert (made.status_code, set(made.json())) == (400, {"groups"})
    flagged = await patch(clerk, USERS, mine, is_superuser=True, role="owner", name="me")
    assert flagged.status_code == 200
    assert flagged.json()["is_superuser"] is False
    assert (await clerk.get(f"{API}/core/groups/")).status_code == 403


async def test_a_clerk_assigns_only_what_they_may_do_themselves(town: Town, ada: Person) -> None:
    clerk, bob = await person_who_may(town, ada, *CLERK), await town.sign_up()
    mine, his = await id_of(clerk), await id_of(bob)
    small, great = await role(ada, "core.view_user"), await role(ada, "core.view_user", "core.view_group")
    through = await group(ada, roles=[great])
    harmless = await group(ada, roles=[small])
    below = await group(ada, parent=through)

    assert (await patch(clerk, USERS, his, roles=[small], groups=[harmless])).status_code == 200
    for pk in (mine, his):
        assert set((await patch(clerk, USERS, pk, roles=[great])).json()) == {"roles"}
        assert set((await patch(clerk, USERS, pk, groups=[through])).json()) == {"groups"}
        assert set((await patch(clerk, USERS, pk, groups=[below])).json()) == {"groups"}
    assert (await bob.get(API + GROUPS)).status_code == 403
    assert (await clerk.get(API + GROUPS)).status_code == 403


async def test_who_may_do_more_is_out_of_a_clerks_reach(town: Town, ada: Person) -> None:
    clerk = await person_who_may(town, ada, *CLERK, "core.reset_user_password", "core.add_token")
    above = await person_who_may(town, ada, "crypto.view_certificatekeypair")
    through_group = await town.sign_up()
    await group(ada, is_superuser=True, user_set=[await id_of(through_group)])

    for person in (ada, above, through_group):
        pk = await id_of(person)
        url = f"{API}/core/users/{pk}/"
        answers = [
            await patch(clerk, USERS, pk, name="Somebody else"),
            await patch(clerk, USERS, pk, is_active=False),
            await patch(clerk, USERS, pk, password="a password I know"),
            await clerk.call("PUT", url, json={"username": new_name("x"), "name": "X"}),
            await clerk.call("DELETE", url),
            await clerk.call("POST", f"{url}set_password/", json={"password": "a password I know"}),
            await clerk.call("POST", API + TOKENS, json={"user": pk}),
        ]
        assert {answer.status_code for answer in answers} == {403}, [answer.text for answer in answers]
        assert await id_of(person) == pk


async def test_an_administrator_touches_no_owner(town: Town, ada: Person) -> None:
    """Whoever could set an owner's password, address or token would be one."""
    admin, bob = await town.sign_up(role="administrator"), await town.sign_up()
    hers, his = await id_of(ada), await id_of(bob)
    password = {"password": "quite another secret 7"}
    tries: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", f"{USERS}{hers}/", {"name": "Mine"}),
        ("PATCH", f"{USERS}{hers}/", {"email": "mine@example.org"}),
        ("PATCH", f"{USERS}{hers}/", {"is_active": False}),
        ("PATCH", f"{USERS}{hers}/", {"groups": []}),
        ("POST", f"{USERS}{hers}/set_password/", password),
        ("POST", TOKENS, {"identifier": new_name("t"), "user": hers, "intent": "api"}),
        ("DELETE", f"{USERS}{hers}/", {}),
    ]
    for method, path, sent in tries:
        refused = await admin.call(method, f"{API}{path}", json=sent)
        assert refused.status_code == 403, (method, path, sent, refused.text)
    assert (await ada.get(f"{API}/core/users/me/")).json()["name"] != "Mine"
    assert (await patch(admin, USERS, his, name="Robert")).status_code == 200
    assert (await patch(ada, USERS, await id_of(admin), name="Deputy")).status_code == 200
    assert (await patch(admin, USERS, await id_of(admin), name="Myself")).status_code == 200


async def test_passwords_are_set_by_oneself_or_with_the_right_to(town: Town, ada: Person) -> None:
    clerk, helper, bob = (
        await person_who_may(town, ada, *CLERK),
        await person_who_may(town, ada, "core.reset_user_password"),
        await town.sign_up(),
    )
    his = await id_of(bob)
    url = f"{API}/core/users/{his}/set_password/"

    refused = await clerk.call("POST", url, json={"password": "from the clerk"})
    assert refused.status_code == 403
    assert refused.json()["permission"] == "core.reset_user_password"
    assert set((await patch(clerk, USERS, his, password="from the clerk")).json()) == {"password"}
    assert await id_of(bob) == his
    assert (await helper.call("POST", url, json={"password": "from the helper"})).status_code == 204
    assert (await bob.get(f"{API}/core/users/me/")).status_code == 401
    bob.password = "from the helper"
    assert (await bob.call("POST", url, json={"password": "my very own"})).status_code == 204
    assert (await bob.get(f"{API}/core/users/me/")).status_code == 401
    bob.password = "my very own"
    assert await id_of(bob) == his
    for wrong in ({}, {"password": ""}, {"password": None}, {"password": 5}, {"password": "x" * 257}):
        answer = await bob.call("POST", url, json=wrong)
        assert (answer.status_code, set(answer.json())) == (400, {"password"}), wrong
    for nobody in ("999999999", "x", "-1", "99999999999999"):
        answer = await helper.call("POST", f"{API}/core/users/{nobody}/set_password/", json={"password": "whatever 1"})
        assert answer.status_code == 404


async def test_a_role_grants_no_more_than_its_maker_has(town: Town, ada: Person) -> None:
    mine = ("rbac.add_role", "rbac.change_role", "rbac.delete_role", "rbac.view_role", "core.view_user")
    maker = await person_who_may(town, ada, *mine)
    great = await role(ada, "core.delete_user")
    before = (await ada.get(f"{API}{ROLES}{great}/")).json()

    for body in ({"permissions": ["core.view_user", "core.delete_user"]}, {"permissions": ["core.view_secret"]}):
        refused = await maker.call("POST", API + ROLES, json={"name": new_name("r")} | body)
        assert (refused.status_code, set(refused.json())) == (400, {"permissions"})
    own = await make(maker, ROLES, name=new_name("r"), permissions=["core.view_user"])
    assert (await patch(maker, ROLES, own["pk"], permissions=["core.delete_user"])).status_code == 400
    assert (await patch(maker, ROLES, great, name="mine now")).status_code == 403
    assert (await maker.call("DELETE", f"{API}{ROLES}{great}/")).status_code == 403
    assert (await ada.get(f"{API}{ROLES}{great}/")).json() == before
    assert (await maker.call("DELETE", f"{API}{ROLES}{own['pk']}/")).status_code == 204


async def test_a_keeper_of_groups_raises_nobody(town: Town, ada: Person) -> None:
    keeper = await person_who_may(
        town, ada, "core.view_group", "core.add_group", "core.change_group", "core.delete_group"
    )
    mine = await id_of(keeper)
    mighty = await group(ada, is_superuser=True)
    great = await group(ada, roles=[await role(ada, "core.delete_user")])
    plain = await group(ada)

    attempts: list[tuple[str, Mapping[str, Any]]] = [
        (plain, {"is_superuser": True}),
        (plain, {"parent": mighty}),
        (plain, {"parent": great}),
        (plain, {"roles": [await role(ada, "core.delete_user")]}),
        (mighty, {"user_set": [mine]}),
        (mighty, {"is_superuser": False}),
        (great, {"user_set": [mine]}),
        (await group(ada, parent=great), {"user_set": [mine]}),
    ]
    for pk, fields in attempts:
        answer = await patch(keeper, GROUPS, pk, **fields)
        assert answer.status_code == (400 if pk == plain else 403), (fields, answer.text)
    for fields in ({"is_superuser": True}, {"parent": mighty}, {"parent": great, "user_set": [mine]}):
        assert (await keeper.call("POST", API + GROUPS, json={"name": new_name("g")} | fields)).status_code == 400, (
            fields
        )
    for pk in (mighty, great):
        assert (await keeper.call("DELETE", f"{API}{GROUPS}{pk}/")).status_code == 403
    assert (await patch(keeper, GROUPS, plain, user_set=[mine], name=new_name("ours"))).status_code == 200
    for fields in ({"attributes": {"a": 1}}, {"name": new_name("ours")}):  # which policies and applications go by
        assert (await patch(keeper, GROUPS, great, **fields)).status_code == 403
    me = (await keeper.get(f"{API}/core/users/me/")).json()
    assert me["is_superuser"] is False
    assert "core.delete_user" not in me["system_permissions"]


# Where rights come from, and how they end


async def test_rights_come_through_groups_and_everything_above_them(town: Town, ada: Person) -> None:
    bob = await town.sign_up()
    his = await id_of(bob)
    top = await group(ada, roles=[await role(ada, "core.view_user")])
    middle = await group(ada, parent=top)
    low = await group(ada, parent=middle)
    sibling = await group(ada, parent=top, roles=[await role(ada, "core.view_group")])
    beneath = await group(ada, parent=low, roles=[await role(ada, "core.view_application")])

    assert (await bob.get(API + USERS)).status_code == 403
    assert (await patch(ada, GROUPS, low, user_set=[his])).status_code == 200
    assert (await bob.get(API + USERS)).status_code == 200
    assert (await bob.get(API + GROUPS)).status_code == 403, sibling
    assert (await bob.get(f"{API}/core/applications/")).status_code == 403, beneath
    assert (await bob.get(f"{API}/core/users/me/")).json()["system_permissions"] == ["core.view_user"]
    assert (await patch(ada, GROUPS, middle, parent=None)).status_code == 200
    assert (await bob.get(API + USERS)).status_code == 403
    assert (await patch(ada, GROUPS, middle, is_superuser=True)).status_code == 200
    assert (await bob.get(API + GROUPS)).status_code == 200
    assert (await bob.get(f"{API}/core/users/me/")).json()["is_superuser"] is True
    assert (await patch(ada, GROUPS, low, user_set=[])).status_code == 200
    assert (await bob.get(API + GROUPS)).status_code == 403


@pytest.mark.parametrize("how", ["narrowed", "unassigned", "deleted", "left the group", "group deleted"])
async def test_what_is_taken_away_is_gone_at_the_next_request(town: Town, ada: Person, how: str) -> None:
    bob = await town.sign_up()
    his, granted = await id_of(bob), await role(ada, "core.view_user")
    ours = await group(ada, user_set=[his])
    if "group" in how:
        await patch(ada, GROUPS, ours, roles=[granted])
    else:
        await patch(ada, USERS, his, roles=[granted])
    assert (await bob.get(API + USERS)).status_code == 200

    changed = {
        "narrowed": patch(ada, ROLES, granted, permissions=["core.view_group"]),
        "unassigned": patch(ada, USERS, his, roles=[]),
        "deleted": ada.call("DELETE", f"{API}{ROLES}{granted}/"),
        "left the group": patch(ada, USERS, his, groups=[]),
        "group deleted": ada.call("DELETE", f"{API}{GROUPS}{ours}/"),
    }
    for name, call in changed.items():
        if name == how:
            assert (await call).is_success
        else:
            call.close()

    assert (await bob.get(API + USERS)).status_code == 403
    assert (await bob.get(f"{API}{USERS}{his}/")).status_code == 403


async def test_who_is_disabled_is_refused_at_once_by_every_door(town: Town, ada: Person) -> None:
    bob = await person_who_may(town, ada, "core.view_user")
    his = await id_of(bob)
    key = (await make(bob, TOKENS, identifier=new_name("api")))["key"]
    app = (await make(bob, TOKENS, identifier=new_name("app"), intent="app_password"))["key"]

    async def knock() -> list[httpx.Response]:
        return [
            await bob.get(API + USERS),
            await town.http.get(API + USERS, auth=(bob.username, app)),
            await town.http.get(API + USERS, auth=("anyone", key)),
            await town.http.get(API + USERS, headers={"authorization": f"Bearer {key}"}),
        ]

    assert [answer.status_code for answer in await knock()] == [200] * 4
    assert (await patch(ada, USERS, his, is_active=False)).status_code == 200
    answers = await knock()
    assert [answer.status_code for answer in answers] == [401] * 4
    said = [answer.json()["detail"] for answer in answers]
    # Whoever guesses at a name does not learn that the password was right; whoever has a token has it.
    assert said == ["Invalid username/password."] * 2 + ["User inactive or deleted."] * 2
    assert (await patch(ada, USERS, his, is_active=True)).status_code == 200
    assert [answer.status_code for answer in await knock()] == [200] * 4
    assert (await ada.call("DELETE", f"{API}{USERS}{his}/")).status_code == 204
    assert [answer.status_code for answer in await knock()] == [401] * 4


# Tokens


async def test_an_app_password_goes_with_its_owners_name_only(town: Town, ada: Person) -> None:
    bob, eve = await town.sign_up(), await town.sign_up()
    made = await make(bob, TOKENS, identifier=new_name("app"), intent="app_password")
    me, key = f"{API}/core/users/me/", made["key"]

    assert (await town.http.get(me, auth=(bob.username, key))).json()["username"] == bob.username
    assert (await town.http.get(me, auth=(bob.username.upper(), key))).status_code == 200
    for name in (eve.username, ada.username, "", "nobody"):
        assert (await town.http.get(me, auth=(name, key))).status_code == 401
    assert (await town.http.get(me, headers={"authorization": f"Bearer {key}"})).status_code == 401
    assert (await town.http.get(me, params={"token": key})).status_code == 401


async def test_an_expired_token_opens_nothing(town: Town, ada: Person) -> None:
    bob = await town.sign_up()
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    made = await make(bob, TOKENS, identifier=new_name("t"), expires=soon)
    never = await make(bob, TOKENS, identifier=new_name("t"), expiring=False)
    usual = await make(bob, TOKENS, identifier=new_name("t"))

    async def enter(token: Mapping[str, Any]) -> int:
        headers = {"authorization": f"Bearer {token['key']}"}
        return (await town.http.get(f"{API}/core/users/me/", headers=headers)).status_code

    assert [await enter(one) for one in (made, never, usual)] == [200, 200, 200]
    assert (never["expires"], never["expiring"], usual["expiring"]) == (None, False, True)
    assert (await patch(bob, TOKENS, made["pk"], expires=past)).status_code == 200
    assert await enter(made) == 401
    late = await bob.call("POST", API + TOKENS, json={"identifier": new_name("t"), "expires": past})
    assert late.status_code == 400 or await enter(late.json()) == 401
    assert (await bob.call("DELETE", f"{API}{TOKENS}{usual['pk']}/")).status_code == 204
    assert await enter(usual) == 401


async def test_everybody_has_their_own_tokens_and_sees_no_others(town: Town, ada: Person) -> None:
    bob, eve = await town.sign_up(), await town.sign_up()
    his = await make(bob, TOKENS, identifier=new_name("bobs"))
    hers = await make(eve, TOKENS, identifier=new_name("eves"))
    item = f"{API}{TOKENS}{his['pk']}/"

    assert his["user"] == await id_of(bob)
    assert [one["pk"] for one in await results(eve, TOKENS)] == [hers["pk"]]
    assert his["pk"] not in {one["pk"] for one in await results(eve, TOKENS, user=his["user"])}
    assert await results(eve, TOKENS, identifier=his["identifier"]) == []
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        answer = await eve.call(method, item, json={} if method[0] == "P" else None)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Not found."}), method
    for body in ({"user": his["user"]}, {"user": await id_of(ada)}):
        taken = await eve.call("POST", API + TOKENS, json=body)
        assert (taken.status_code, set(taken.json())) == (400, {"user"})
    moved = await patch(eve, TOKENS, hers["pk"], user=his["user"])
    assert (moved.status_code, set(moved.json())) == (400, {"user"})
    for intent in ("verification", "recovery"):
        assert set((await eve.call("POST", API + TOKENS, json={"intent": intent})).json()) == {"intent"}
    assert (await patch(bob, TOKENS, his["pk"], description="mine")).json()["description"] == "mine"
    assert {his["pk"], hers["pk"]} <= {one["pk"] for one in await results(ada, TOKENS)}
    auditor = await person_who_may(town, ada, "core.view_token", "core.change_token")
    assert his["pk"] in {one["pk"] for one in await results(auditor, TOKENS)}
    assert (await patch(auditor, TOKENS, his["pk"], description="seen")).status_code == 200
    assert (await auditor.call("DELETE", item)).status_code == 404
    assert (await bob.call("DELETE", item)).status_code == 204


# Everyone, and the last one


async def test_everybody_may_read_their_own_record_and_nobody_elses(town: Town, ada: Person) -> None:
    bob = await town.sign_up()

    mine = (await bob.get(f"{API}/core/users/me/")).json()
    owners = (await ada.get(f"{API}/core/users/me/")).json()

    assert mine["username"] == mine["user"]["username"] == bob.username
    assert (mine["is_superuser"], mine["system_permissions"]) == (False, [])
    assert (owners["is_superuser"], owners["system_permissions"]) == (True, ["*"])
    assert not {"password", "role", "username_key"} & set(mine)
    assert (await bob.get(f"{API}/core/users/{mine['pk']}/")).status_code == 403
    assert (await bob.call("PATCH", f"{API}/core/users/me/", json={"name": "x"})).status_code == 405
    assert (await town.http.get(f"{API}/core/users/me/")).status_code == 401


async def test_the_last_superuser_stays(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await town.owner()
    mine = await id_of(ada)
    second = await town.sign_up()
    await group(ada, is_superuser=True, user_set=[await id_of(second)])

    for person, expected in ((ada, 409), (second, 403)):  # the second is no owner
        disabled = await patch(person, USERS, mine, is_active=False)
        deleted = await person.call("DELETE", f"{API}{USERS}{mine}/")
        assert (disabled.status_code, deleted.status_code) == (expected, expected)
    assert (await patch(ada, USERS, mine, name="Ada", is_active=True)).status_code == 200
    third, another = await town.sign_up(role="administrator"), await town.sign_up(role="owner")
    theirs, hers = await id_of(third), await id_of(another)
    assert (await third.call("DELETE", f"{API}{USERS}{theirs}/")).status_code == 409
    assert (await patch(another, USERS, mine, is_active=False)).status_code == 200
    assert (await another.call("DELETE", f"{API}{USERS}{mine}/")).status_code == 204
    assert (await patch(another, USERS, hers, is_active=False)).status_code == 200
    assert (await patch(second, USERS, theirs, is_active=False)).status_code == 409
    assert (await second.call("DELETE", f"{API}{USERS}{theirs}/")).status_code == 409
