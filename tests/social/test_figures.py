"""Figures for the team: compared with what is counted independently from a seeded year."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command, insert_into
from kith.base.ids import id_at
from kith.identity.users import store as user_store
from kith.social.accounts import store as accounts_store
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.instance import store as instance
from kith.social.moderation.tables import reports
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from kith.social.statuses.tables import favourites
from tests.conftest import TownBuilder
from tests.social.members import Member, join, stranger
from tests.social.posts import said_elsewhere, settle
from tests.social.shapes import check, entity
from tests.social.staff import employ, verdict
from tests.social.test_reports import report
from tests.town import Town

ADMIN = "/api/v1/admin"
MEASURE = entity("Measure")
DIMENSION = entity("Dimension")
COHORT = entity("Cohort")
FIRST, LAST = date(2025, 1, 1), date(2025, 12, 31)


def _at(table: Any, name: str = "created_at") -> Any:
    return command(
        update(table).where(table.c.id == bindparam("which")).values({name: bindparam("at", type_=Instant())})
    )


_favour = command(insert_into(favourites))


class Year:
    """What happened on which day, written down while it is made."""

    def __init__(self) -> None:
        self.joined: dict[str, date] = {}
        self.present: dict[str, set[date]] = defaultdict(set)
        self.interactions: Counter[date] = Counter()
        self.tagged: list[tuple[date, str]] = []
        self.opened: Counter[date] = Counter()
        self.resolved: Counter[date] = Counter()


def _some_day(dice: random.Random, after: date = FIRST) -> date:
    return after + timedelta(days=dice.randrange((LAST - after).days + 1))


def _noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, 30, tzinfo=UTC)


class Said(NamedTuple):
    id: int
    account_id: int


async def said_on(town: Town, who: Member, day: date, dice: random.Random, **differing: Any) -> Said:
    """Something that a member posted on that day, with an id of that day as everything has."""
    id = id_at(_noon(day), dice.randrange(1 << 16))
    async with town.house() as house:
        author = await accounts_store.find(house.works.open().db, AccountId(int(who.id)))
    assert author is not None
    own: dict[str, Any] = {"id": id, "conversation_id": id, "local": True, "created_at": _noon(day), "fetched_at": None}
    await said_elsewhere(town, author, **(own | differing))
    return Said(id, int(who.id))


async def seed(town: Town) -> tuple[Member, Year, dict[str, str]]:
    dice, year = random.Random(7), Year()
    owner = await employ(town, "owner")
    members = [await join(town) for _ in range(6)]
    far = await stranger(town, "figures.example")
    posts = []
    for who in members:
        for _ in range(3):
            day = _some_day(dice)
            language = dice.choice(["en", "de"])
            posts.append(await said_on(town, who, day, dice, language=language, tag_names=["figures"]))
            year.tagged.append((day, who.id))
    for answered in posts[3:8]:
        day = _some_day(dice)
        about = {"in_reply_to_id": answered.id, "in_reply_to_account_id": answered.account_id}
        await said_on(town, members[0], day, dice, **about)
        year.interactions[day] += 1
    told = [await report(members[0], members[1 + place % 3]) for place in range(4)]
    await settle(town)
    tag = await owner.get("/api/v1/tags/figures")
    async with town.house() as house, house.works.begin() as work:
        for one in members:
            year.joined[one.id] = day = _some_day(dice, FIRST).replace(month=dice.randrange(1, 7))
            await work.db.run(_at(accounts), which=int(one.id), at=_noon(day))
            user_id = await _user_of(work, one.name)
            for _ in range(8):
                here = _some_day(dice, day)
                year.present[one.id].add(here)
                await instance.note_presence(work.db, user_id, here.isoformat())
        for place, liked in enumerate(posts[:7]):
            day = _some_day(dice)
            year.interactions[day] += 1
            fan = int(members[place % 6].id)
            id = id_at(_noon(day), place)
            await work.db.run(_favour, id=id, account_id=fan, status_id=liked.id, created_at=_noon(day))
        strange = {"id": id_at(_noon(FIRST)), "account_id": far.id, "status_id": posts[9].id}
        await work.db.run(_favour, **strange, created_at=_noon(FIRST))  # somebody elsewhere: not counted
        for place, made in enumerate(told):
            day = _some_day(dice)
            year.opened[day] += 1
            await work.db.run(_at(reports), which=int(made["id"]), at=_noon(day))
            if place % 2:
                year.resolved[day] += 1
                await work.db.run(_at(reports, "action_taken_at"), which=int(made["id"]), at=_noon(day))
    return owner, year, {"tag": str(tag.get("id", "")), "domain": "figures.example"}


async def _user_of(work: Any, name: str) -> Any:

    found = await user_store.find(work.db, name)
    assert found is not None
    return found.id


def _by_day(counted: Counter[date]) -> list[str]:
    days = [FIRST + timedelta(days=place) for place in range((LAST - FIRST).days + 1)]
    return [str(counted[day]) for day in days]


async def test_figures_are_what_happened(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, year, ids = await seed(town)
    keys = ["active_users", "new_users", "interactions", "opened_reports", "resolved_reports", "tag_uses", "tag_accounts",
            "tag_servers", "instance_accounts", "instance_statuses", "instance_follows", "instance_followers",
            "instance_reports", "instance_media_attachments"]  # fmt: skip
    asked: dict[str, Any] = {"keys": keys, "start_at": FIRST.isoformat(), "end_at": f"{LAST.isoformat()}T10:00:00Z"}
    asked |= {key: {"id": ids["tag"]} for key in keys if key.startswith("tag_")}
    asked |= {key: {"domain": ids["domain"]} for key in keys if key.startswith("instance_")}

    answer = await owner.post(f"{ADMIN}/measures", json=asked)

    check(answer, [MEASURE])
    found = {one["key"]: one for one in answer}
    assert list(found) == keys

    assert [one["data"][0]["date"] for one in answer] == [f"{FIRST.isoformat()}T00:00:00Z"] * len(keys)

    def days_of(key: str) -> list[str]:
        return [one["value"] for one in found[key]["data"]]

    present = Counter(day for days in year.present.values() for day in days)
    assert days_of("active_users") == _by_day(present)
    assert found["active_users"]["total"] == str(len(year.present))
    assert days_of("new_users") == _by_day(Counter(year.joined.values()))
    assert (found["new_users"]["total"], found["new_users"]["previous_total"]) == (str(len(year.joined)), "0")
    assert days_of("interactions") == _by_day(year.interactions)
    assert days_of("opened_reports") == _by_day(year.opened)
    assert days_of("resolved_reports") == _by_day(year.resolved)
    assert days_of("tag_uses") == _by_day(Counter(day for day, _ in year.tagged))
    assert days_of("tag_accounts") == _by_day(Counter(day for day, _ in set(year.tagged)))
    assert (found["tag_accounts"]["total"], found["tag_servers"]["total"]) == ("6", "1")
    assert (found["instance_accounts"]["total"], found["instance_statuses"]["total"]) == ("1", "0")

    cohorts = await owner.post(
        f"{ADMIN}/retention", json={"start_at": "2025-01-01", "end_at": "2025-12-31", "frequency": "month"}
    )
    check(cohorts, [COHORT])
    assert (cohorts[1]["period"], cohorts[1]["data"][1]["date"]) == ("2025-02-01T00:00:00Z", "2025-03-01T00:00:00Z")
    for place, cohort in enumerate(cohorts):
        came = [id for id, day in year.joined.items() if day.month == place + 1]
        for step, one in enumerate(cohort["data"]):
            back = [id for id in came if any(day.month == place + 1 + step for day in year.present[id])]
            assert one["value"] == str(len(back)), (place, step)
            assert one["rate"] == pytest.approx(len(back) / max(len(came), 1))


async def test_dimensions_are_made_up_of_what_is_there(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, year, ids = await seed(town)
    keys = [
        "languages",
        "sources",
        "servers",
        "space_usage",
        "software_versions",
        "tag_servers",
        "tag_languages",
        "instance_accounts",
        "instance_languages",
    ]
    asked: dict[str, Any] = {"keys": keys, "start_at": FIRST.isoformat(), "end_at": LAST.isoformat(), "limit": 5}
    asked |= {"tag_servers": {"id": ids["tag"]}, "tag_languages": {"id": ids["tag"]}}
    asked |= {"instance_accounts": {"domain": "127.0.0.1"}, "instance_languages": {"domain": "127.0.0.1"}}

    answer = await owner.post(f"{ADMIN}/dimensions", json=asked)

    check(answer, [DIMENSION])
    found = {one["key"]: one["data"] for one in answer}
    assert found["languages"] == [{"key": "en", "human_key": "English", "value": str(len(year.present))}]
    own = town.base_url.removeprefix("http://")
    assert found["tag_servers"] == [{"key": own, "human_key": own, "value": str(len(year.tagged))}]
    assert sum(int(one["value"]) for one in found["tag_languages"]) == len(year.tagged)
    assert int(found["space_usage"][0]["value"]) > 0
    one, two = await stranger(town, "near.example"), await stranger(town, "near.example")
    async with town.house() as house, house.works.begin() as work:
        follow = Follow(work.new_id(), AccountId(int(owner.id)), two.id, True, False, None, None, work.now)
        await relationships.add_follow(work.db, follow)
    asked |= {"keys": ["instance_accounts"], "instance_accounts": {"domain": "near.example"}}
    [followed] = await owner.post(f"{ADMIN}/dimensions", json=asked)
    expected = [(two.username, "1"), (one.username, "0")]
    assert [(entry["key"], entry["value"]) for entry in followed["data"]] == expected
    assert [one["key"] for one in found["software_versions"]][:2] == ["kith", "python"]


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("measures", {"keys": ["new_users"]}, 400),
        ("measures", {"keys": ["new_users"], "start_at": "x", "end_at": "y"}, 422),
        ("measures", {"keys": ["new_users"], "start_at": "2025-02-01", "end_at": "2025-01-01"}, 422),
        ("measures", {"start_at": "2025-01-01", "end_at": "2025-01-02"}, 422),
        ("measures", {"keys": ["odd"], "start_at": "2025-01-01", "end_at": "2025-01-02"}, 200),
        ("measures", {"keys": ["new_users"], "start_at": "0001-01-01", "end_at": "9999-01-02"}, 422),
        ("dimensions", {"keys": ["servers"], "limit": -3}, 200),
        ("retention", {"start_at": "2025-01-01", "end_at": "2025-01-09", "frequency": "hour"}, 422),
        ("retention", {"start_at": "2025-01-01", "end_at": "2025-12-09"}, 422),
        ("retention", {"start_at": "2025-01-01", "end_at": "2025-01-09"}, 200),
    ],
)
async def test_what_cannot_be_counted(town: Town, path: str, sent: dict[str, Any], status: int) -> None:
    mod = await employ(town, "moderator")

    assert await verdict(mod, "POST", f"{ADMIN}/{path}", json=sent) == status
    assert await verdict(await employ(town, "user"), "POST", f"{ADMIN}/{path}", json=sent) == 403
