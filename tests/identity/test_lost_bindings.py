"""Whom a binding names can leave in many ways; the binding stays, says who it was, and refuses."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import bindparam, delete, select, update

from kith.base.db import Instant, command, query
from kith.cli.first_rows import offer_start
from kith.identity.applications.tables import applications
from kith.identity.blueprints.writing import as_yaml
from kith.identity.groups.tables import groups
from kith.identity.policies.bindings import bindings
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.rest import policy_targets
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.scim_service import GROUP, USER, make_service
from tests.identity.test_blueprints import applied, exported, read, rehearsed
from tests.town import Person, Town

UNENROLLMENT = "default-unenrollment-flow"


class Leaver(msgspec.Struct):
    """A person or a group that a binding names, by the field of the binding; `leave` ends it."""

    kind: str
    pk: Any
    name: str
    leave: Callable[[], Awaitable[Any]]


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def one_named(ada: Person, path: str, **wanted: str) -> dict[str, Any]:
    [found] = await results(ada, path, **wanted)
    return found


async def group_by_hand(town: Town, ada: Person) -> Leaver:
    group = await make(ada, "/core/groups/", name=new_name("club"))
    return Leaver("group", group["pk"], group["name"], lambda: ada.call("DELETE", f"{API}/core/groups/{group['pk']}/"))


async def person_by_hand(town: Town, ada: Person) -> Leaver:
    bob = await town.sign_up()
    user = await one_named(ada, "/core/users/", username=bob.username)
    return Leaver("user", user["pk"], bob.username, lambda: ada.call("DELETE", f"{API}/core/users/{user['pk']}/"))


async def person_by_themselves(town: Town, ada: Person) -> Leaver:
    bob = await town.sign_up()
    user = await one_named(ada, "/core/users/", username=bob.username)

    async def leave() -> None:
        browser = Browser(town)
        await browser.sign_in(bob)
        await browser.see(UNENROLLMENT)
        await browser.answer(UNENROLLMENT, component="password", password=bob.password)
        await browser.answer(UNENROLLMENT, component="userdelete")

    return Leaver("user", user["pk"], bob.username, leave)


async def group_by_a_service(town: Town, ada: Person) -> Leaver:
    service, name = await make_service(town), new_name("team")
    made = await service.call("POST", "/Groups", {"schemas": [GROUP], "displayName": name}, 201)
    group = await one_named(ada, "/core/groups/", name=name)
    return Leaver("group", group["pk"], name, lambda: service.call("DELETE", f"/Groups/{made['id']}", expect=204))


async def person_by_a_service(town: Town, ada: Person) -> Leaver:
    service, name = await make_service(town), new_name("bob").replace("-", "_")
    made = await service.call("POST", "/Users", {"schemas": [USER], "userName": name}, 201)
    user = await one_named(ada, "/core/users/", username=name)
    return Leaver("user", user["pk"], name, lambda: service.call("DELETE", f"/Users/{made['id']}", expect=204))


async def group_by_a_blueprint(town: Town, ada: Person) -> Leaver:
    group = await make(ada, "/core/groups/", name=new_name("listed"))
    text = f"version: 1\nentries:\n- model: core.group\n  state: absent\n  identifiers:\n    name: {group['name']}\n"

    async def leave() -> None:
        file = town.folder / f"{group['name']}.yaml"
        file.write_text(text)
        await town.kith("blueprints", "apply", str(file))

    return Leaver("group", group["pk"], group["name"], leave)


async def person_by_the_team(town: Town, ada: Person) -> Leaver:
    bob = await town.sign_up()
    user = await one_named(ada, "/core/users/", username=bob.username)

    async def leave() -> None:
        from kith.identity.for_staff import delete_person  # noqa: PLC0415 - as the social half calls it

        async with town.house() as house, house.works.begin() as work:
            await delete_person(work, user["pk"], by=None, by_name="team")

    return Leaver("user", user["pk"], bob.username, leave)


async def rows_alone(town: Town, ada: Person) -> Leaver:
    """Whatever deletes the row: the database itself keeps the binding, though nobody kept the name."""
    group = await make(ada, "/core/groups/", name=new_name("row"))
    gone = command(delete(groups).where(groups.c.group_uuid == bindparam("wanted", type_=groups.c.group_uuid.type)))

    async def leave() -> None:
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(gone, wanted=group["pk"])

    return Leaver("group", group["pk"], "", leave)


LEAVING = (
    group_by_hand, person_by_hand, person_by_themselves, group_by_a_service, person_by_a_service,
    group_by_a_blueprint, person_by_the_team, rows_alone,
)  # fmt: skip


async def application(ada: Person, **fields: Any) -> dict[str, Any]:
    name = new_name("guarded")
    return await make(ada, "/core/applications/", **{"name": name, "slug": name} | fields)


async def may_enter(person: Person, app: dict[str, Any]) -> bool:
    answer = await person.get(f"{API}/core/applications/{app['pk']}/check_access/")
    assert answer.status_code == 200, answer.text
    return bool(answer.json()["passing"])


async def lost(ada: Person, binding: dict[str, Any]) -> dict[str, Any]:
    """The event that tells of it."""
    async with asyncio.timeout(90):
        while True:
            for event in await results(ada, "/audit/events/", action="binding_lost", ordering="-created", limit=50):
                if event["context"]["model"]["pk"] == binding["pk"]:
                    return event
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("leaving", LEAVING, ids=lambda one: one.__name__)
async def test_who_leaves_opens_nothing(
    town: Town, ada: Person, leaving: Callable[[Town, Person], Awaitable[Leaver]]
) -> None:
    bob, leaver = await town.sign_up(), await leaving(town, ada)
    apps = [await application(ada, policy_engine_mode=mode) for mode in ("all", "any")]
    bound = [
        await make(
            ada,
            "/policies/bindings/",
            **{"target": app["pk"], "order": 0, leaver.kind: leaver.pk, "failure_result": True, "negate": negate},
        )
        for app, negate in zip(apps, (False, True), strict=True)
    ]

    await leaver.leave()

    assert [await may_enter(person, app) for app in apps for person in (bob, ada)] == [False] * 4
    for binding in bound:
        told = (await ada.get(f"{API}/policies/bindings/{binding['pk']}/")).json()
        assert (told["gone"], told["policy"], told["group"], told["user"]) == (True, None, None, None)
        assert (told["gone_name"] or "", told["gone_kind"]) == (leaver.name, leaver.kind if leaver.name else None)
    if leaver.name:
        assert (await lost(ada, bound[0]))["context"]["named"] == {"kind": leaver.kind, "name": leaver.name}


async def test_a_lost_binding_is_pointed_elsewhere_or_deleted_by_hand(town: Town, ada: Person) -> None:
    bob, leaver, app = await town.sign_up(), await group_by_hand(town, ada), await application(ada)
    binding = await make(ada, "/policies/bindings/", target=app["pk"], order=0, group=leaver.pk)
    item = f"{API}/policies/bindings/{binding['pk']}/"
    await leaver.leave()

    listed = [one["pk"] for one in await results(ada, "/policies/bindings/", gone="true", target=app["pk"])]
    found = [one["pk"] for one in await results(ada, "/policies/bindings/", search=leaver.name)]
    kept = await ada.call("PATCH", item, json={"order": 3, "negate": True, "gone_name": "renamed"})
    was_open = await may_enter(bob, app)
    other = await make(ada, "/core/groups/", name=new_name("club"))
    again = await ada.call("PATCH", item, json={"group": other["pk"], "negate": False})

    assert listed == found == [binding["pk"]]
    assert (kept.status_code, kept.json()["gone"], was_open) == (200, True, False)
    told = again.json()
    assert (told["gone"], told["gone_kind"], told["gone_name"], told["group"]) == (False, None, None, other["pk"])
    assert not await may_enter(bob, app)
    assert await results(ada, "/policies/bindings/", gone="true", target=app["pk"]) == []
    assert (await ada.call("DELETE", item)).status_code == 204
    assert await may_enter(bob, app)


async def test_who_may_enter_is_told_as_it_is(town: Town, ada: Person) -> None:
    leaver, app = await group_by_hand(town, ada), await application(ada)
    off = await application(ada)
    await make(ada, "/policies/bindings/", target=app["pk"], order=0, group=leaver.pk)
    await make(ada, "/policies/bindings/", target=off["pk"], order=0, user=(await me(ada))["pk"], enabled=False)
    await leaver.leave()

    for one in (app, off):
        answer = await ada.get(f"{API}/core/grants/export/", params={"application": one["slug"]})
        assert answer.status_code == 200, answer.text
        lines = list(csv.DictReader(io.StringIO(answer.text)))
        assert [line["via"] for line in lines if line["kind"] == "may_enter"] == []


async def me(person: Person) -> dict[str, Any]:
    found: dict[str, Any] = (await person.get(f"{API}/core/users/me/")).json()["user"]
    return found


async def test_a_group_that_others_stand_on_is_only_let_go_by_its_service(town: Town, ada: Person) -> None:
    service, name = await make_service(town), new_name("team")
    person = await service.add(new_name("bob").replace("-", "_"))
    group = {"schemas": [GROUP], "displayName": name, "members": [{"value": person["id"]}]}
    made = await service.call("POST", "/Groups", group, 201)
    here = await one_named(ada, "/core/groups/", name=name)
    below = await make(ada, "/core/groups/", name=new_name("below"), parent=here["pk"])

    held = await ada.call("DELETE", f"{API}/core/groups/{here['pk']}/")
    await service.call("DELETE", f"/Groups/{made['id']}", expect=204)

    assert (held.status_code, [one["pk"] for one in held.json()["references"]]) == (409, [below["pk"]])
    await service.call("GET", f"/Groups/{made['id']}", expect=404)
    assert (await one_named(ada, "/core/groups/", name=name))["user_set"] == []
    assert (await one_named(ada, "/core/groups/", name=below["name"]))["parent"] == here["pk"]


async def test_a_copy_of_the_configuration_refuses_too(new_town: TownBuilder) -> None:
    """What is lost or over is not open where it is made again from files."""
    place = await new_town(start=False)
    async with place.house() as house:
        async with house.works.begin() as work:
            await offer_start(work)
        await applied(house, [read(CONFIGURATION)])
        await applied(house, [read(ABSENT)])
        async with house.works.begin() as work:
            await work.db.run(_OVER, past=work.now - timedelta(days=1))
        files = [read(as_yaml(one), one.name) for one in await exported(house, None)]
        assert not (await rehearsed(house, files)).changes
        async with house.works.begin() as work:
            await policy_targets.remove(work.db, [target for _, target in await work.db.all(_TARGETS)])
        done = await applied(house, files)
        verdicts = {}
        async with house.works.begin() as work:
            for slug, target in await work.db.all(_TARGETS):
                verdicts[slug] = (await evaluate_target(work, target, PolicyRequest())).passing

    assert not [words for words in done.warnings if "policybinding" in words]
    assert verdicts == {"lost": False, "over": False}


CONFIGURATION = """
version: 1
entries:
- {model: core.group, id: leaving, identifiers: {name: leaving}}
- {model: core.group, id: staying, identifiers: {name: staying}}
- {model: core.application, id: lost, identifiers: {slug: lost}, attrs: {name: Lost}}
- {model: core.application, id: over, identifiers: {slug: over}, attrs: {name: Over}}
- model: policies.policybinding
  identifiers: {target: !KeyOf lost, group: !KeyOf leaving, order: 0}
- model: policies.policybinding
  identifiers: {target: !KeyOf over, group: !KeyOf staying, order: 0}
  attrs: {expires: "2999-01-01T00:00:00Z"}
"""
ABSENT = "version: 1\nentries:\n- {model: core.group, state: absent, identifiers: {name: leaving}}\n"
_OVER = command(
    update(bindings).where(bindings.c.expires.is_not(None)).values(expires=bindparam("past", type_=Instant()))
)
_TARGETS = query(select(applications.c.slug, applications.c.pbm_uuid).order_by(applications.c.slug), tuple)
