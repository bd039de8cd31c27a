"""Annual reports: their figures, compared with what is counted independently from a seeded year; and who sees them."""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kith.base.db import command, insert_into
from kith.social.accounts.facts import AccountDeleted
from kith.social.annual_reports import service, store, tasks
from kith.social.annual_reports.figures import Counts, archetype_of
from kith.social.annual_reports.tables import AnnualReport
from kith.social.ids import AccountId
from kith.social.instance import entities
from kith.social.instance.service import Numbers
from kith.social.relationships.tables import follows
from kith.social.statuses.tables import DIRECT, PRIVATE, PUBLIC, UNLISTED
from tests.social.members import Member, join, join_all, set_state, stranger
from tests.social.past import write_all
from tests.social.posts import post, settle
from tests.social.shapes import STATUS, check, entity
from tests.social.staff import verdict
from tests.town import Town

ALL = "/api/v1/annual_reports"
YEAR = 2024
REPORTS = entity("AnnualReports") | {"statuses": [STATUS]}
_follow = command(insert_into(follows))


async def made(member: Member, year: int = YEAR) -> dict[str, Any]:
    """A report, asked for and waited for."""
    assert await verdict(member, "POST", f"{ALL}/{year}/generate") == 202
    await settle(member.town)
    found = await member.get(f"{ALL}/{year}")
    check(found, REPORTS)
    return dict(found)


async def state(member: Member, year: int = YEAR) -> str:
    return str((await member.get(f"{ALL}/{year}/state"))["state"])


class SeededYear:
    """What happened when, written down while it is made."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.posts: list[tuple[datetime, dict[str, Any]]] = []
        self.followed: list[datetime] = []

    def some_day(self, year: int = YEAR) -> datetime:
        return datetime(year, 1, 1, tzinfo=UTC) + timedelta(seconds=self.dice.randrange(365 * 86_400))

    def write(self, how_many: int, *, year: int = YEAR, **differing: Any) -> None:
        for _ in range(how_many):
            tags = self.dice.sample(["spring", "summer", "autumn", "rare"], k=self.dice.randrange(3))
            counts = {f"{name}_count": self.dice.randrange(50) for name in ("reblogs", "favourites", "replies")}
            self.posts.append((self.some_day(year), {"tag_names": tags, **counts, **differing}))

    def within(self) -> list[tuple[datetime, dict[str, Any]]]:
        return [(at, one) for at, one in self.posts if at.year == YEAR and one.get("deleted_at") is None]


async def seed(ada: Member, original: str) -> SeededYear:
    year = SeededYear(random.Random(11))
    at = datetime(YEAR, 6, 1, tzinfo=UTC)
    year.write(90)
    year.write(30, in_reply_to_id=int(original), in_reply_to_account_id=1)
    year.write(10, visibility=UNLISTED)
    year.write(10, visibility=PRIVATE, tag_names=["private"], favourites_count=500)
    year.write(5, visibility=DIRECT, tag_names=["private"])
    year.write(5, deleted_at=at, tag_names=["gone"], reblogs_count=900)
    for other in (YEAR - 1, YEAR + 1):
        year.write(10, year=other, tag_names=["other"], reblogs_count=700)
    last = datetime(YEAR, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    for moment in (datetime(YEAR, 1, 1, tzinfo=UTC), last, last + timedelta(milliseconds=1)):
        year.posts.append((moment, {}))
    for other in (YEAR - 1, *[YEAR] * 8, YEAR + 1):
        year.followed.append(year.some_day(other))
    ids = await write_all(ada, year.posts)
    for id, (_, one) in zip(ids, year.posts, strict=True):
        one["id"] = id
    fans = [await stranger(ada.town, "fans.example") for _ in year.followed]
    async with ada.town.house() as house, house.works.begin() as work:
        for fan, at in zip(fans, year.followed, strict=True):
            row = {"id": work.new_id(), "account_id": fan.id, "target_id": int(ada.id), "created_at": at}
            await work.db.run(_follow, **row, reblogs=True, notify=False, languages=None, uri=None)
    return year


def top(posts: list[dict[str, Any]], name: str, others: list[str]) -> str:
    left = [one for one in posts if one["id"] not in others and one.get(name, 0)]
    return str(max(left, key=lambda one: (one[name], int(one["id"])))["id"])


async def test_the_figures_are_those_of_the_year(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    year = await seed(ada, (await post(bob))["id"])

    answer = await made(ada)

    [report] = answer["annual_reports"]
    data, posts = report["data"], year.within()
    assert (report["year"], report["schema_version"], report["account_id"]) == (YEAR, 2, ada.id)
    written, gained = Counter(at.month for at, _ in posts), Counter(at.month for at in year.followed if at.year == YEAR)
    assert data["time_series"] == [
        {"month": month, "statuses": written[month], "followers": gained[month]} for month in range(1, 13)
    ]
    assert sum(one["statuses"] for one in data["time_series"]) == 147
    open_ones = [one for _, one in posts if one.get("visibility", PUBLIC) in (PUBLIC, UNLISTED)]
    used = Counter(name for one in open_ones for name in one.get("tag_names", ()))
    assert {one["name"]: one["count"] for one in data["top_hashtags"]} == used
    assert [one["count"] for one in data["top_hashtags"]] == sorted(used.values(), reverse=True)
    public = [one for _, one in posts if one.get("visibility", PUBLIC) == PUBLIC]
    tops: dict[str, str] = {}
    for name in ("reblogs", "favourites", "replies"):
        tops[f"by_{name}"] = top(public, f"{name}_count", list(tops.values()))
    assert data["top_statuses"] == tops
    assert {one["id"] for one in answer["statuses"]} == set(tops.values())
    assert [one["id"] for one in answer["accounts"]] == [ada.id]
    assert data["archetype"] == "oracle"


@pytest.mark.parametrize(("counts", "archetype"), [
    (Counts(0, 0, 0, 0), "lurker"), (Counts(50, 32, 30, 0), "lurker"), (Counts(50, 33, 30, 0), "oracle"),
    (Counts(50, 0, 100, 0), "oracle"), (Counts(50, 0, 101, 0), "booster"), (Counts(50, 0, 101, 50), "booster"),
    (Counts(100, 13, 0, 10), "oracle"), (Counts(100, 13, 0, 11), "pollster"), (Counts(40, 80, 0, 0), "oracle"),
    (Counts(40, 81, 0, 0), "replier"), (Counts(0, 0, 113, 0), "booster"),
])  # fmt: skip
def test_what_kind_of_member_somebody_was(counts: Counts, archetype: str) -> None:
    assert archetype_of(counts) == archetype


@pytest.mark.parametrize(("now", "year"), [
    ("2026-12-09T23:59:59+00:00", None), ("2026-12-10T00:00:00+00:00", 2026), ("2026-12-31T23:59:59+00:00", 2026),
    ("2027-01-01T00:00:00+00:00", None), ("2026-11-16T00:00:00+00:00", None),
])  # fmt: skip
def test_a_year_is_summed_up_in_its_last_weeks(now: str, year: int | None) -> None:
    at = datetime.fromisoformat(now)

    assert service.campaign(at) == year
    assert service.is_told(2026, at) is (year == 2026 or at.year > 2026)
    assert service.is_told(2025, at)
    assert not service.is_told(1999, at)
    assert not service.is_told(at.year + 1, at)


async def test_the_instance_tells_which_year_is_summed_up(town: Town) -> None:
    async with town.house() as house:
        for campaign, told in ((2026, "2026"), (None, None)):
            now = entities.Now(has_terms=False, campaign=campaign)
            assert entities.v2(house.settings, Numbers(0, 0, 0, 0), [], None, "", now)["wrapstodon"] == told


async def test_a_report_is_asked_for_told_of_and_read(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    assert await state(ada) == "ineligible"
    answer = await ada.call("POST", f"{ALL}/{YEAR}/generate")
    assert (answer.status_code, answer.json(), "mastodon-async-refresh" in answer.headers) == (200, {}, False)
    await write_all(ada, [(datetime(YEAR, 3, 3, tzinfo=UTC), {})])
    assert await state(ada) == "eligible"
    assert await verdict(ada, "GET", f"{ALL}/{YEAR}") == 404
    assert await verdict(ada, "POST", f"{ALL}/{YEAR}/read") == 404

    report = await made(ada)

    assert await state(ada) == "available"
    assert report["annual_reports"][0]["data"]["top_statuses"] == dict.fromkeys(
        ("by_reblogs", "by_favourites", "by_replies")
    )
    assert await ada.get(ALL) == report
    [told] = await ada.get("/api/v1/notifications", params={"types[]": "annual_report"})
    assert (told["annual_report"], told["account"]["id"]) == ({"year": str(YEAR)}, ada.id)
    grouped = await ada.get("/api/v2/notifications", params={"types[]": "annual_report"})
    assert grouped["notification_groups"][0]["annual_report"] == {"year": str(YEAR)}
    assert await verdict(ada, "POST", f"{ALL}/{YEAR}/generate") == 200
    assert await ada.post(f"{ALL}/{YEAR}/read") == {}
    assert await ada.get(ALL) == {"annual_reports": [], "accounts": [], "statuses": []}
    assert (await ada.get(f"{ALL}/{YEAR}"))["annual_reports"] == report["annual_reports"]
    # Everybody has their own.
    assert await verdict(bob, "GET", f"{ALL}/{YEAR}") == 404
    assert (await bob.get(ALL))["annual_reports"] == []


async def test_while_it_is_counted_one_is_told_when_to_ask_again(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    me = AccountId(int(ada.id))
    async with town.house() as house, house.works.begin() as work:
        asked = AnnualReport(work.new_id(), me, YEAR, 2, None, "key", work.now)
        await store.ask(work.db, asked)

    told_to_wait = ""
    for method, verb, status in (("GET", "state", 200), ("POST", "generate", 202)):
        answer = await ada.call(method, f"{ALL}/{YEAR}/{verb}")
        assert answer.status_code == status
        [told_to_wait] = re.findall(r'^id="([^"]+)", retry=2$', answer.headers["mastodon-async-refresh"])
    assert await state(ada) == "generating"
    path = f"/api/v1_alpha/async_refreshes/{told_to_wait}"
    told = {"id": told_to_wait, "status": "running", "result_count": None}
    assert await ada.get(path) == {"async_refresh": told}
    assert await verdict(bob, "GET", path) == 404
    assert await verdict(ada, "GET", path[:-4] + str(YEAR - 1)) == 404
    assert await verdict(ada, "GET", path + "x") == 404
    async with town.house() as house, house.works.begin() as work:
        await service.make(work, service.MakeReport(account_id=me, year=YEAR))
    assert (await ada.get(path))["async_refresh"]["status"] == "finished"


async def test_what_was_never_made_can_be_asked_for_again(town: Town) -> None:
    ada = await join(town)
    await write_all(ada, [(datetime(YEAR, 3, 3, tzinfo=UTC), {})])
    async with town.house() as house, house.works.begin() as work:
        long_ago = work.now - service.GIVEN_UP_AFTER
        await store.ask(work.db, AnnualReport(work.new_id(), AccountId(int(ada.id)), YEAR, 2, None, "key", long_ago))
    assert await state(ada) == "eligible"

    await made(ada)

    assert await state(ada) == "available"


@pytest.mark.parametrize("year", ["0", "-5", "1999", "9999", "10000", str(2**40), str(2**63), "1e3", "x"])
async def test_years_that_cannot_be(town: Town, year: str) -> None:
    ada = await join(town)

    assert await verdict(ada, "GET", f"{ALL}/{year}") == 404
    assert await verdict(ada, "POST", f"{ALL}/{year}/read") == 404
    if year.isdigit() and int(year) < 2**63:
        assert await state(ada, int(year)) == "ineligible"
        assert await verdict(ada, "POST", f"{ALL}/{year}/generate") == 200


async def test_a_report_is_shared_by_its_address(town: Town) -> None:
    ada, eve = await join_all(town, 2)
    await ada.patch("/api/v1/accounts/update_credentials", json={"display_name": "Ada <b>"})
    at = datetime(YEAR, 3, 3, tzinfo=UTC)
    await write_all(ada, [(at, {"tag_names": ["sharing"]}), (at + timedelta(days=1), {"tag_names": ["sharing"]})])
    [report] = (await made(ada))["annual_reports"]
    url = report["share_url"]
    assert url.startswith(f"{town.base_url}/@{ada.name}/wrapstodon/{YEAR}/")

    page = await town.http.get(url)

    assert (page.status_code, f"{YEAR} of Ada &lt;b&gt;" in page.text, "2 posts" in page.text) == (200, True, True)
    assert "#sharing" in page.text
    german = await town.http.get(url, headers={"Accept-Language": "de"})
    assert "2 Beiträge" in german.text
    key = url.rpartition("/")[2]
    for wrong in (
        url + "0", url[:-1], url.replace(f"/{YEAR}/", f"/{YEAR - 1}/"), url.replace(f"/{YEAR}/", "/x/"),
        url.replace(ada.name, eve.name), url.replace("/@", "/"), f"{town.base_url}/@nobody/wrapstodon/{YEAR}/{key}",
    ):  # fmt: skip
        assert (await town.http.get(wrong)).status_code == 404, wrong
    await set_state(town, ada.id, lambda work: {"suspended_at": work.now})
    assert (await town.http.get(url)).status_code == 404


async def test_whoever_leaves_takes_their_reports_along(town: Town) -> None:
    ada, eve = await join_all(town, 2)
    for one in (ada, eve):
        await write_all(one, [(datetime(YEAR, 3, 3, tzinfo=UTC), {})])
    await made(ada)
    await set_state(town, eve.id, lambda work: {"suspended_at": work.now})
    me, gone = AccountId(int(ada.id)), AccountId(int(eve.id))

    async with town.house() as house, house.works.begin() as work:
        await store.ask(work.db, AnnualReport(work.new_id(), gone, YEAR, 2, None, "key", work.now))
        await service.make(work, service.MakeReport(account_id=gone, year=YEAR))
        await tasks.forget_account(work, AccountDeleted(account_id=me))
        kept = await store.find(work.db, gone, YEAR)
        assert kept is not None
        assert kept.made_at is None
        assert await store.find(work.db, me, YEAR) is None


async def test_reports_are_for_members_with_the_right_scopes(town: Town) -> None:
    for path in (ALL, f"{ALL}/{YEAR}", f"{ALL}/{YEAR}/state"):
        assert (await town.http.get(path)).status_code == 401
    for verb in ("generate", "read"):
        assert (await town.http.post(f"{ALL}/{YEAR}/{verb}")).status_code == 401
