"""Lists of accounts for the team: every filter of both versions, and what a page costs."""

from __future__ import annotations

from typing import Any

import pytest

from kith.base.paging import Cursor
from kith.social.admin import store
from kith.social.admin.entities import render_admin
from kith.social.admin.report_entities import render_admin_reports
from kith.social.admin.store import AccountQuery
from kith.social.moderation import store as moderation
from kith.social.staff import OPERATOR
from tests.conftest import TownBuilder
from tests.social.members import Member, join, stranger
from tests.social.posts import post, settle
from tests.social.shapes import check
from tests.social.staff import employ, employ_as, verdict
from tests.social.test_reports import report
from tests.social.test_roles import ADMIN_ACCOUNT
from tests.social.tokens import new_app

V1, V2 = "/api/v1/admin/accounts", "/api/v2/admin/accounts"


async def names(member: Member, path: str, **asked: Any) -> set[str]:
    found = await member.get(path, params=asked)
    check(found, [ADMIN_ACCOUNT])
    return {one["username"] for one in found}


async def test_every_filter_finds_whom_it_names(new_town: TownBuilder) -> None:
    town = await new_town()
    owner = await employ(town, "owner", "the_owner")
    mod = await employ(town, "moderator", "the_mod")
    own = await employ_as(town, owner, 4, "view_dashboard")
    members = {name: await join(town, name) for name in ("plain", "quiet", "marked", "frozen", "gone")}
    far = await stranger(town, "far.example", display_name="Far Away")
    for name, type in (("quiet", "silence"), ("marked", "sensitive"), ("frozen", "disable"), ("gone", "suspend")):
        await owner.post(f"{V1}/{members[name].id}/action", json={"type": type})
    own_role = own.me["role"]["id"]
    here = {"the_owner", "the_mod", own.name, "plain", "quiet", "marked"}

    assert await names(owner, V1) == here
    assert await names(owner, V1, remote="true") == {far.username}
    assert await names(owner, V1, local="1", remote="1") == {*here, far.username}
    assert await names(owner, V1, silenced="true") == {"quiet"}
    assert await names(owner, V1, suspended="true") == {"gone"}
    assert await names(owner, V1, sensitized="true") == {"marked"}
    assert "frozen" in await names(owner, V1, disabled="true")
    assert await names(owner, V1, pending="true") == set()
    assert await names(owner, V1, staff="true") == {"the_owner", "the_mod", own.name}
    assert await names(owner, V1, username="PLA") == {"plain"}
    assert await names(owner, V1, email="plain@example.org") == {"plain"}
    assert await names(owner, V1, remote="1", by_domain="far.example", display_name="far") == {far.username}
    assert await names(owner, V1, ip="198.51.100.1") == set()

    assert await names(owner, V2) == {*here, "frozen", "gone", far.username}
    assert await names(owner, V2, origin="remote") == {far.username}
    assert await names(owner, V2, status="suspended", origin="local") == {"gone"}
    assert await names(owner, V2, permissions="staff") == {"the_owner", "the_mod", own.name}
    assert await names(owner, V2, **{"role_ids[]": [own_role, "1"]}) == {"the_mod", own.name}
    assert await names(owner, V2, invited_by="1") == set()
    wrong = await owner.call("GET", V2, params={"status": "odd"})
    assert (wrong.status_code, wrong.json()["error"]) == (400, "Unknown status: odd")
    assert await verdict(members["plain"], "GET", V1) == 403
    assert await verdict(own, "GET", V2) == 403
    assert (await mod.get(f"{V1}/{members['plain'].id}"))["email"] == "plain@example.org"


async def test_a_list_is_walked_there_and_back(new_town: TownBuilder) -> None:
    town = await new_town()
    owner = await employ(town, "owner")
    for _ in range(5):
        await join(town)

    first = await owner.call("GET", V1, params={"limit": "2"})
    seen = [one["id"] for one in first.json()]
    answer = first
    while "next" in answer.links:
        answer = await owner.call("GET", answer.links["next"]["url"])
        seen += [one["id"] for one in answer.json()]
    assert seen == sorted(seen, key=int, reverse=True)
    assert len(seen) == 6
    back = await owner.call("GET", V1, params={"min_id": seen[-1], "limit": "2"})
    assert [one["id"] for one in back.json()] == seen[-3:-1]


@pytest.mark.parametrize("path", [V1, V2])
async def test_networks_find_people(new_town: TownBuilder, path: str) -> None:
    town = await new_town(trusted_proxies="127.0.0.1", confirm_email="off")
    owner = await employ(town, "owner")
    app = await new_app(town, "read write")
    headers = {"Authorization": f"Bearer {await app.token('read write')}", "X-Forwarded-For": "203.0.113.9"}
    sent = {
        "username": "seen",
        "email": "seen@example.org",
        "password": "correct horse",
        "agreement": True,
        "locale": "en",
    }
    assert (await town.http.post("/api/v1/accounts", json=sent, headers=headers)).status_code == 200
    await owner.get("/api/v1/accounts/lookup", params={"acct": owner.name})

    async def found(ip: str) -> set[str]:
        return {one["username"] for one in await owner.get(path, params={"ip": ip})}

    await settle(town)
    assert await found("203.0.113.9") == await found("203.0.113.0/24") == {"seen"}
    assert await found("203.0.114.0/24") == await found("nonsense") == set()
    [seen] = [one for one in await owner.get(V2) if one["username"] == "seen"]
    assert (seen["ip"], seen["created_by_application_id"]) == ("203.0.113.9", app.id)


class Counting:
    """A session that counts what it is asked."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        if name in ("all", "one", "slow", "run"):
            self.count += 1
        return getattr(self._session, name)


async def test_pages_cost_the_same_however_long_they_are(new_town: TownBuilder) -> None:
    town = await new_town()
    members = [await join(town) for _ in range(6)]
    posts = [await post(one, "hello") for one in members]
    for one, said in zip(members[1:], posts[1:], strict=True):
        await report(members[0], one, status_ids=[said["id"]])

    async def cost(limit: int) -> tuple[int, int]:
        async with town.house() as house, house.works.begin() as work:
            session, work.db = work.db, Counting(work.db)
            rows = await store.page_of(work.db, AccountQuery(), Cursor(limit=limit))
            assert len(await render_admin(work, rows)) == limit
            listed = work.db.count
            found = await moderation.page_of_reports(work.db, Cursor(limit=limit), resolved=False)
            assert len(await render_admin_reports(work, found, OPERATOR)) == limit
            counts = listed, work.db.count - listed
            work.db = session
            return counts

    assert await cost(1) == await cost(5)
