"""Roles: what they permit, to whom, and who may give them."""

from __future__ import annotations

import asyncio
import json

import pytest

from kith.identity.users import service as people
from kith.identity.users import store as users
from tests.social.members import Member, join
from tests.social.shapes import check, entity
from tests.social.staff import employ, employ_as, verdict
from tests.town import Town

ROLES = "/api/v1/admin/roles"
STAFF_ROLE = entity("StaffRole")
ADMIN_ACCOUNT = entity("AdminAccount")


async def give(by: Member, to: Member, role_id: str) -> int:
    return await verdict(by, "POST", f"/api/v1/admin/accounts/{to.id}/role", json={"role_id": role_id})


async def test_the_shipped_roles_have_the_bits_that_clients_know(town: Town) -> None:
    owner = await employ(town, "owner")

    listed = await owner.get(ROLES)

    check(listed, [STAFF_ROLE])
    shipped = {one["id"]: (one["name"], one["position"], one["permissions"]) for one in listed if one["is_shipped"]}
    assert shipped == {
        "3": ("Owner", 1000, "1"),
        "2": ("Admin", 100, "2031612"),
        "1": ("Moderator", 10, "1049884"),
        "-99": ("", -1, "65536"),
    }
    assert owner.me["role"]["permissions"] == str((1 << 23) - 1)
    assert owner.me["roles"] == [{"id": "3", "name": "Owner", "color": ""}]
    member = await join(town)
    assert (member.me["role"]["id"], member.me["role"]["permissions"], member.me["roles"]) == ("-99", "65536", [])


async def test_a_role_is_made_given_shown_changed_and_deleted(town: Town) -> None:
    owner, gil = await employ(town, "owner"), await employ(town, "user")
    sent = {
        "name": "Gardener",
        "color": "#00AA00",
        "position": 5,
        "highlighted": True,
        "permissions_as_keys": ["manage_custom_emojis", "manage_users"],
    }

    role = await owner.post(ROLES, json=sent)
    check(await owner.post(f"/api/v1/admin/accounts/{gil.id}/role", json={"role_id": role["id"]}), ADMIN_ACCOUNT)
    me = await gil.refreshed()
    assert me["roles"] == [{"id": role["id"], "name": "Gardener", "color": "#00aa00"}]
    assert me["role"]["permissions"] == str(1 << 14 | 1 << 10 | 1 << 16)
    assert (await gil.get(f"/api/v1/admin/accounts/{gil.id}"))["role"]["name"] == "Gardener"
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, gil.name)
        assert user is not None
        assert user.role == "moderator"  # one record: who manages people looks after people there, too

    await owner.does("PUT", f"{ROLES}/{role['id']}", json={"name": "Florist", "permissions": "0"})
    assert (await gil.refreshed())["roles"][0]["name"] == "Florist"
    assert await verdict(gil, "GET", f"/api/v1/admin/accounts/{gil.id}") == 403

    await owner.delete(f"{ROLES}/{role['id']}")
    me = await gil.refreshed()
    assert (me["roles"], me["role"]["id"]) == ([], "-99")


async def test_who_may_give_which_role_to_whom(town: Town) -> None:
    """The ladder, as a table: who gives, to whom, what, and what comes of it."""
    owner = await employ(town, "owner")
    people = {
        "owner": owner,
        "other owner": await employ(town, "owner"),
        "admin": await employ(town, "administrator"),
        "other admin": await employ(town, "administrator"),
        "moderator": await employ(town, "moderator"),
        "high": await employ_as(town, owner, 500, "manage_roles", "manage_users"),
        "user": await employ(town, "user"),
    }
    low = (await owner.post(ROLES, json={"name": "low", "position": 1, "permissions_as_keys": ["view_devops"]}))["id"]
    table = [
        ("user", "user", "1"), ("user", "user", "3"), ("moderator", "moderator", "2"), ("moderator", "user", "1"),
        ("admin", "admin", "3"), ("admin", "admin", "-99"), ("admin", "other admin", "-99"),
        ("admin", "owner", "-99"), ("admin", "user", "2"), ("admin", "user", "3"), ("admin", "user", low),
        ("high", "user", "2"), ("high", "moderator", "-99"), ("high", "admin", "-99"), ("owner", "owner", "-99"),
        ("owner", "other owner", "2"), ("owner", "user", "3"),
    ]  # fmt: skip
    for by, to, role in table:
        assert await give(people[by], people[to], role) == 403, (by, to, role)
    for by, to, role in [
        ("admin", "user", "1"),
        ("admin", "user", "-99"),
        ("owner", "user", low),
        ("owner", "user", "2"),
        ("owner", "user", "-99"),
        ("owner", "other admin", "1"),
        ("admin", "other admin", "-99"),
    ]:
        assert await give(people[by], people[to], role) == 200, (by, to, role)
    assert await give(owner, people["user"], "12345") == 404
    assert (await people["owner"].refreshed())["role"]["id"] == "3"


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        ({"name": "x", "position": 100}, "Position cannot be higher than your current role"),
        (
            {"name": "x", "position": 5, "permissions": 1},
            "Permissions as keys cannot include permissions your current role does not possess",
        ),
        ({"name": "x", "permissions_as_keys": ["fly"]}, "Permissions as keys is not included in the list"),
        ({"name": "x", "permissions": 1 << 30}, "Permissions is invalid"),
        ({"name": " "}, "Name can't be blank"),
        ({"name": "x" * 101}, "Name is too long (maximum is 100 characters)"),
        ({"name": "x", "color": "red"}, "Color is invalid"),
        ({"name": "x", "position": -5}, "Position is invalid"),
    ],
)
async def test_a_role_grants_nothing_that_its_maker_lacks(town: Town, sent: dict[str, object], complaint: str) -> None:
    admin = await employ(town, "administrator")

    answer = await admin.call("POST", ROLES, json=sent)

    assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {complaint}")


async def test_roles_above_ones_own_and_shipped_ones_stand(town: Town) -> None:
    owner, admin = await employ(town, "owner"), await employ(town, "administrator")

    assert await verdict(admin, "PUT", f"{ROLES}/3", json={"name": "x"}) == 403
    assert await verdict(admin, "PUT", f"{ROLES}/2", json={"permissions": 1 << 22}) == 403
    assert await verdict(admin, "DELETE", f"{ROLES}/1") == 403
    assert await verdict(owner, "DELETE", f"{ROLES}/1") == 403
    assert await verdict(owner, "PUT", f"{ROLES}/-99", json={"permissions_as_keys": ["manage_users"]}) == 422
    assert await verdict(owner, "PUT", f"{ROLES}/abc", json={}) == 404
    assert await verdict(await employ(town, "moderator"), "GET", ROLES) == 403


async def test_a_role_that_grants_more_than_one_has_stands_however_low_it_is(town: Town) -> None:
    owner = await employ(town, "owner")
    keeper = await employ_as(town, owner, 50, "manage_roles", "manage_users", "manage_reports")
    made, told = {}, {}
    for permission in ("administrator", "manage_federation", "manage_reports"):
        holder = await employ_as(town, owner, 5, permission)
        made[permission] = holder, (await holder.refreshed())["role"]["id"]

    for permission, (_, id) in made.items():
        sent = {"permissions_as_keys": ["manage_reports"]}
        told[permission] = [
            await verdict(keeper, "PUT", f"{ROLES}/{id}", json={"name": "renamed"}),
            await verdict(keeper, "PUT", f"{ROLES}/{id}", json=sent),
            await verdict(keeper, "DELETE", f"{ROLES}/{id}"),
        ]
    left = [(await holder.refreshed())["role"]["id"] == id for holder, id in made.values()]

    assert told == {"administrator": [403] * 3, "manage_federation": [403] * 3, "manage_reports": [200] * 3}
    assert left == [True, True, False]


async def test_roles_by_the_command_line(town: Town) -> None:
    gil = await employ(town, "user")

    made = json.loads(
        await town.kith("roles", "create", "Cook", "--position", "7", "--permission", "view_dashboard", "--json")
    )
    assert "Cook" in await town.kith("roles", "list")
    assert "now has the role Cook" in await town.kith("users", "set-role", gil.name, "cook")
    assert (await gil.refreshed())["role"]["name"] == "Cook"
    await town.kith("roles", "change", "Cook", "--name", "Chef", "--highlighted")
    assert (await gil.refreshed())["roles"] == [{"id": made["id"], "name": "Chef", "color": ""}]
    await town.kith("users", "set-role", gil.name, "user")
    assert (await gil.refreshed())["role"]["id"] == "-99"
    await town.kith("roles", "delete", "Chef")
    assert "no role called" in await town.kith("users", "set-role", gil.name, "Chef", expect=1)


@pytest.mark.both_databases
async def test_who_is_no_administrator_any_more_when_their_turn_comes_gives_no_role(town: Town) -> None:
    _, admin, friend = await employ(town, "owner"), await employ(town, "administrator"), await employ(town, "user")

    async with town.house() as house, house.works.begin() as work:
        await work.db.hold("social.roles")
        user = await users.find(work.db, admin.name)
        assert user is not None
        await people.set_role(work, user, "user")
        waiting = asyncio.create_task(give(admin, friend, "1"))
        await asyncio.sleep(0.5)

    assert await waiting == 403
    assert (await friend.refreshed())["role"]["id"] == "-99"
