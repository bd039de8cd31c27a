"""Whatever is only looked at stays as it is: anybody can send somebody's browser to an address.

Tried with all flows and stages, and with every address that takes GET, by people to whom every door is open. The
database is compared before and after.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator

import pytest

from tests import snapshots
from tests.every_route import addresses, get_templates, is_stream
from tests.identity.flow_browser import Browser
from tests.identity.record_maker import Maker
from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, results
from tests.identity.seed import EVERYTHING
from tests.search_size import is_whole_search
from tests.snapshots import WHOLE
from tests.social.posts import post
from tests.social.staff import employ
from tests.town import Person, Town, build_town
from tests.town.town import Engine

# What a look leaves behind, and why it harms nobody.
NOTES: dict[str, tuple[str, ...]] = {
    "identity_sessions": ("last_used_at",),
    "identity_oauth_keys": WHOLE,  # the server's own, made when they are first asked for
    "base_rate_counts": WHOLE,  # how often somebody asked, and whether a write goes through
    "base_id_slots": WHOLE,  # that the server lives, written by itself
}
# A run of a flow is kept on the server. That somebody was refused, or has taken a list along, is written down.
RUNS: dict[str, tuple[str, ...]] = {"identity_flow_runs": WHOLE, "identity_refusals": WHOLE}
WRITTEN_DOWN = ("'flow_denied'", "'data_export'")


ENGINES: tuple[Engine, ...] = ("sqlite", "postgresql") if is_whole_search() else ("sqlite",)


@pytest.fixture(scope="module", params=ENGINES)
async def quiet_town(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """Nothing happens in it by itself. What is tried is who writes at all, for which one database will do."""
    async with build_town(request.param, tmp_path_factory.mktemp("quiet"), worker="off") as town:
        yield town


@pytest.fixture(scope="module")
async def owner(quiet_town: Town) -> Person:
    return await quiet_town.owner()


async def _look_at_flow(browser: Browser, slug: str, query: str = "") -> None:
    for _ in range(2):
        answer = await browser.http.get(f"{API}/flows/executor/{slug}/{query}")
        assert answer.status_code == 200, answer.text
        page = await browser.http.get(f"/flows/{slug}/{query}")
        # As the flow would have it: what counts is what it changed.
        assert page.status_code in (200, 303, 307, 403), page.text


def _changes(before: snapshots.Snapshot, after: snapshots.Snapshot) -> snapshots.Differences:
    """But for new lines in the audit trail that tell of having looked."""
    known = before["identity_events"]
    told = {one for one in after["identity_events"] if one in known or not any(word in one for word in WRITTEN_DOWN)}
    return snapshots.differences(before, after | {"identity_events": told})


async def _nothing_changes(town: Town, browser: Browser, slug: str, query: str = "") -> None:
    who = await browser.who()
    before = await snapshots.take(town, NOTES | RUNS)
    await _look_at_flow(browser, slug, query)
    after = await snapshots.take(town, NOTES | RUNS)
    assert _changes(before, after) == {}, slug
    assert await browser.who() == who


async def test_to_look_at_a_shipped_flow_changes_nothing(quiet_town: Town, owner: Person) -> None:
    ada = await quiet_town.sign_up()
    member, stranger = Browser(quiet_town), Browser(quiet_town)
    await member.sign_in(ada)
    await stranger.see("default-authentication-flow")
    slugs = [one["slug"] for one in await results(owner, "/flows/instances/")]

    assert len(slugs) > 8
    for slug in slugs:
        for browser in (member, stranger):
            await _nothing_changes(quiet_town, browser, slug)


async def test_to_look_at_a_stage_of_any_kind_changes_nothing(quiet_town: Town, owner: Person) -> None:
    ada = await quiet_town.sign_up()
    browser = Browser(quiet_town)
    await browser.sign_in(ada)
    kinds = [one for one in EVERYTHING if one.path.startswith("/stages/") and one.body and one.path.count("/") == 3]

    assert len(kinds) > 15
    for kind in kinds:
        stage = await Maker(owner).make(kind)
        if "stage_uuid" not in stage:
            continue
        flow = await make_flow(owner, "stage_configuration", authentication="none")
        await make_binding(owner, flow, stage)
        await _nothing_changes(quiet_town, browser, flow["slug"])


async def test_to_look_at_an_invitation_makes_nobody(quiet_town: Town, owner: Person) -> None:
    flow = await make_flow(owner, "enrollment", authentication="none")
    for order, kind in enumerate(("invitation", "user_write", "user_login")):
        fields = {"user_creation_mode": "always_create"} if kind == "user_write" else {}
        await make_binding(owner, flow, await make_stage(owner, kind, **fields), order=order)
    name = new_name("new").replace("-", "_")
    fixed = {"username": name, "email": f"{name}@example.org"}
    invitation = await make(
        owner, "/stages/invitation/invitations/", name=name, flow=flow["pk"], fixed_data=fixed, single_use=True
    )
    browser = Browser(quiet_town)
    await browser.see("default-authentication-flow")
    query = {"itoken": invitation["pk"]}

    await _nothing_changes(quiet_town, browser, flow["slug"], f"?query=itoken%3D{invitation['pk']}")
    await _nothing_changes(quiet_town, browser, flow["slug"], f"?itoken={invitation['pk']}")
    asked = await browser.see(flow["slug"], **query)
    done = await browser.answer(flow["slug"], query, component="userwrite")

    assert asked["component"] == "userwrite"
    assert done["component"] == "redirect"
    assert await browser.who() == name


async def test_to_get_any_address_changes_nothing(quiet_town: Town) -> None:
    """By an owner, signed in and with a token, so that nothing stays at the door."""
    town = quiet_town
    staff = await employ(town, "owner")
    said = await post(staff, "Hello #there")
    browser = Browser(town)
    await browser.sign_in(Person(town.http, staff.name, f"correct horse {staff.name}"))
    by_token = {"Authorization": f"Bearer {staff.token}"}
    values = {
        "statuses/id": (said["id"],), "@/name": (staff.name,), "@/id": (said["id"],), "accounts/id": (staff.id,),
        "users/name": (staff.name,), "users/id": ("1",), "name": (staff.name, "there"), "id": (said["id"], "1"),
        "slug": ("default-invalidation-flow", "default-password-change"), "designation": ("invalidation",),
        "key": ("nothing",), "handle": (f"@{staff.name}",), "path": ("people/1",),
    }  # fmt: skip
    query = f"?q=hello&uri={town.base_url}/@{staff.name}&url={town.base_url}/@{staff.name}/{said['id']}&id[]={staff.id}"
    await browser.http.get("/home")  # whoever has looked at their home once has one from then on
    watch = _Watch(town)
    changed: dict[str, snapshots.Differences] = {}
    seen = 0
    before = await snapshots.take(town, NOTES | RUNS)
    for template, route in [*get_templates(), ("the end", None)]:
        if route is not None and is_stream(route):
            continue
        for address in addresses(template, values, most=6 if is_whole_search() else 2) if route else ():
            answer = await browser.http.get(f"{address}{query}")
            if answer.status_code == 401:
                answer = await browser.http.get(f"{address}{query}", headers=by_token)
            assert answer.status_code != 500, (address, answer.text)
            seen += answer.status_code == 200
        if route is None or watch.sees_a_write():
            after = await snapshots.take(town, NOTES | RUNS)
            if found := _changes(before, after):
                changed[template] = found
            before = after

    assert {name: [*found] for name, found in changed.items()} == {}, str(changed)[:5000]
    assert seen > 400
    assert await browser.who() == staff.name


class _Watch:
    """Says whether anybody has written to the database since it was asked last. Only SQLite tells it at no cost."""

    def __init__(self, town: Town) -> None:
        self._connection = sqlite3.connect(town.folder / "kith.sqlite3") if town.engine == "sqlite" else None
        self._version = -1

    def sees_a_write(self) -> bool:
        if self._connection is None:
            return False
        [version] = self._connection.execute("PRAGMA data_version").fetchone()
        before, self._version = self._version, version
        return bool(before != version)
