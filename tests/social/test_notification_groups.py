"""Notifications by groups: alike things of some hours stand together, once, where the newest of them is."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, update

from kith.base.db import command
from kith.base.paging import Cursor
from kith.social.ids import AccountId
from kith.social.notifications import group_entities, groups
from kith.social.notifications.groups import NotificationSelection
from kith.social.notifications.service import GROUPED
from kith.social.notifications.tables import notifications
from tests.social.members import Member, join_all, set_state
from tests.social.posts import does, post, settle
from tests.social.shapes import ACCOUNT, check
from tests.town import Town

PATH = "/api/v2/notifications"
GROUP = {
    "group_key": "text",
    "notifications_count": "int",
    "type": "text",
    "most_recent_notification_id": "int",
    "page_min_id": "id",
    "page_max_id": "id",
    "latest_page_notification_at": "moment",
    "sample_account_ids": ["id"],
    "status_id?": "id",
}
PARTIAL = {"id", "acct", "locked", "bot", "url", "avatar", "avatar_static", "avatar_description"}
_rename = command(
    update(notifications).where(notifications.c.group_key == bindparam("old")).values(group_key=bindparam("new"))
)


async def grouped(member: Member, **params: Any) -> list[dict[str, Any]]:
    whole = await member.get(PATH, params=params)
    named = {one["id"] for one in whole["accounts"]} | {one["id"] for one in whole.get("partial_accounts", ())}
    shown = [one["id"] for one in whole["statuses"]]
    assert len(shown) == len(set(shown))
    for one in whole["notification_groups"]:
        check(one, GROUP)
        assert named.issuperset(one["sample_account_ids"])
        assert one.get("status_id") is None or one["status_id"] in shown
    return list(whole["notification_groups"])


def summed(groups: list[dict[str, Any]]) -> list[tuple[str, int, list[str]]]:
    return [(one["type"], one["notifications_count"], one["sample_account_ids"]) for one in groups]


async def busy(town: Town) -> tuple[Member, Member, Member, dict[str, Any]]:
    """Somebody whose post two others favour, one boosts, and who is mentioned in between."""
    ada, bob, cat = await join_all(town, 3)
    own = await post(ada)
    await does(bob, "favourite", own)
    await settle(town)
    await post(bob, f"hello @{ada.name}")
    await settle(town)
    await does(cat, "favourite", own)
    await settle(town)
    await does(cat, "reblog", own)
    await settle(town)
    return ada, bob, cat, own


async def test_alike_things_stand_together(town: Town) -> None:
    ada, bob, cat, own = await busy(town)
    whole = await ada.get(PATH)
    assert list(whole) == ["accounts", "statuses", "notification_groups"]
    check(whole["accounts"], [ACCOUNT])
    groups = await grouped(ada)
    assert summed(groups) == [
        ("reblog", 1, [cat.id]),
        ("favourite", 2, [cat.id, bob.id]),
        ("mention", 1, [bob.id]),
    ]
    singles = await ada.get("/api/v1/notifications")
    assert groups[1]["group_key"] == singles[1]["group_key"] == singles[3]["group_key"]
    assert groups[1]["page_max_id"] == singles[1]["id"] == str(groups[1]["most_recent_notification_id"])
    # Only what is within the page: the older favourite is below the last group's newest.
    assert groups[1]["page_min_id"] == singles[1]["id"]
    assert groups[1]["latest_page_notification_at"] == singles[1]["created_at"]
    assert groups[2]["group_key"] == f"ungrouped-{singles[2]['id']}"
    assert (groups[0]["status_id"], groups[1]["status_id"]) == (own["id"], own["id"])

    # What is taken back leaves its group, also where the newest stays.
    await does(bob, "unfavourite", own)
    await settle(town)
    assert summed(await grouped(ada))[1] == ("favourite", 1, [cat.id])


async def test_only_the_types_one_wants_are_grouped(town: Town) -> None:
    ada, bob, cat, _ = await busy(town)
    assert summed(await grouped(ada, **{"grouped_types[]": "reblog"})) == [
        ("reblog", 1, [cat.id]),
        ("favourite", 1, [cat.id]),
        ("mention", 1, [bob.id]),
        ("favourite", 1, [bob.id]),
    ]
    alone = (await grouped(ada, **{"grouped_types[]": "reblog"}))[3]["group_key"]
    assert alone.startswith("ungrouped-")
    assert summed((await ada.get(f"{PATH}/{alone}"))["notification_groups"]) == [("favourite", 1, [bob.id])]
    assert summed(await grouped(ada, **{"types[]": "favourite"})) == [("favourite", 2, [cat.id, bob.id])]
    assert summed(await grouped(ada, account_id=bob.id)) == [("mention", 1, [bob.id]), ("favourite", 1, [bob.id])]
    assert len(await grouped(ada, **{"exclude_types[]": ["mention", "reblog"]})) == 1


async def test_a_walk_shows_each_group_once(town: Town) -> None:
    ada, bob, cat, own = await busy(town)
    seen: list[str] = []
    max_id: dict[str, str] = {}
    while page := await grouped(ada, limit=1, **max_id):
        seen += [one["group_key"] for one in page]
        max_id = {"max_id": page[-1]["page_min_id"]}
    assert seen == [one["group_key"] for one in await grouped(ada)]
    answer = await ada.call("GET", PATH, params={"limit": 2})
    [first, second] = answer.json()["notification_groups"]
    assert f"max_id={second['page_max_id']}" in answer.headers["link"]
    assert f"min_id={first['page_max_id']}" in answer.headers["link"]
    [oldest] = await grouped(ada, limit=1, min_id="1")
    assert oldest["type"] == "mention"
    assert [one["type"] for one in await grouped(ada, since_id=oldest["page_max_id"])] == ["reblog", "favourite"]
    # A further one brings the whole group to the top.
    dan, *_ = await join_all(town, 1)
    await does(dan, "favourite", own)
    await settle(town)
    assert summed(await grouped(ada))[0] == ("favourite", 3, [dan.id, cat.id, bob.id])
    assert len(await grouped(ada)) == 3


async def test_a_group_begins_anew_after_some_hours(town: Town) -> None:
    ada, bob, cat, own = await busy(town)
    key = (await grouped(ada))[1]["group_key"]
    stem, _, hour = key.rpartition("-")
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_rename, old=key, new=f"{stem}-{int(hour) - 12}")
    [dan] = await join_all(town, 1)
    await does(dan, "favourite", own)
    await settle(town)
    assert summed(await grouped(ada, **{"types[]": "favourite"})) == [
        ("favourite", 1, [dan.id]),
        ("favourite", 2, [cat.id, bob.id]),
    ]


async def test_accounts_can_be_shown_in_part(town: Town) -> None:
    ada, bob, cat, _ = await busy(town)
    await ada.post("/api/v1/statuses", json={"status": "x"})
    whole = await ada.get(PATH, params={"expand_accounts": "partial_avatars", "types[]": "favourite"})
    assert [one["id"] for one in whole["accounts"]] == [cat.id]
    [partial] = whole["partial_accounts"]
    assert set(partial) == PARTIAL
    assert partial["id"] == bob.id
    assert "partial_accounts" not in await ada.get(PATH, params={"expand_accounts": "full"})
    refused = await ada.call("GET", PATH, params={"expand_accounts": "x"})
    assert (refused.status_code, refused.json()["error"]) == (
        400,
        "Invalid value for 'expand_accounts': 'x', allowed values are 'full' and 'partial_avatars'",
    )


async def test_one_group_its_accounts_and_dismissing_it(town: Town) -> None:
    ada, bob, cat, own = await busy(town)
    groups = await grouped(ada)
    favourites, mention = groups[1]["group_key"], groups[2]["group_key"]
    one = await ada.get(f"{PATH}/{favourites}")
    assert summed(one["notification_groups"]) == [("favourite", 2, [cat.id, bob.id])]
    assert "page_min_id" not in one["notification_groups"][0]
    assert [status["id"] for status in one["statuses"]] == [own["id"]]
    [told] = (await ada.get(f"{PATH}/{favourites}", params={"supported_types[]": "mention"}))["notification_groups"]
    assert "favourited" in told["fallback"]["title"]
    people = await ada.get(f"{PATH}/{favourites}/accounts")
    assert [person["id"] for person in people] == [cat.id, bob.id]
    answer = await ada.call("GET", f"{PATH}/{favourites}/accounts", params={"limit": 1})
    assert f"max_id={groups[1]['page_max_id']}" in answer.headers["link"]
    assert [person["id"] for person in await ada.get(f"{PATH}/{mention}/accounts")] == [bob.id]

    assert (await bob.call("GET", f"{PATH}/{favourites}")).status_code == 404
    for key in ("ungrouped-x", "ungrouped-99999999999999999999", "favourite-1-1"):
        assert (await ada.call("GET", f"{PATH}/{key}")).status_code == 404
    odd = await ada.call("GET", f"{PATH}/%00")
    assert odd.status_code == (404 if town.engine == "sqlite" else 400)  # PostgreSQL knows no such character
    assert await bob.post(f"{PATH}/{favourites}/dismiss") == {}
    assert len(await grouped(ada)) == 3
    for key in (favourites, mention):
        assert await ada.post(f"{PATH}/{key}/dismiss") == {}
    assert [one["type"] for one in await grouped(ada)] == ["reblog"]
    assert await ada.post(f"{PATH}/clear") == {}
    assert await ada.get(PATH) == {"accounts": [], "statuses": [], "notification_groups": []}


async def test_groups_are_counted_from_the_marker_on(town: Town) -> None:
    ada, *_ = await busy(town)
    assert await ada.get(f"{PATH}/unread_count") == {"count": 3}
    assert await ada.get(f"{PATH}/unread_count", params={"limit": 2}) == {"count": 2}
    assert await ada.get(f"{PATH}/unread_count", params={"grouped_types[]": "follow"}) == {"count": 4}
    assert await ada.get(f"{PATH}/unread_count", params={"types[]": "favourite"}) == {"count": 1}
    read = (await grouped(ada))[2]["page_max_id"]
    await ada.post("/api/v1/markers", json={"notifications": {"last_read_id": read}})
    assert await ada.get(f"{PATH}/unread_count") == {"count": 2}


async def test_who_is_suspended_is_in_no_group_and_what_is_held_back_stands_alone(town: Town) -> None:
    ada, bob, cat, own = await busy(town)
    await set_state(town, cat.id, lambda work: {"suspended_at": work.now})
    assert summed(await grouped(ada)) == [("mention", 1, [bob.id]), ("favourite", 1, [bob.id])]
    [dan] = await join_all(town, 1)
    await ada.patch("/api/v2/notifications/policy", json={"for_not_following": "filter"})
    await does(dan, "favourite", own)
    await settle(town)
    assert len(await grouped(ada)) == 2
    [held, *_] = await grouped(ada, include_filtered="true")
    assert summed([held]) == [("favourite", 1, [dan.id])]
    assert held["group_key"].startswith("ungrouped-")


async def test_a_sample_has_eight_at_most_and_a_filter_hides_whole_groups(town: Town) -> None:
    ada, *others = await join_all(town, 11)
    own = await post(ada, "about gardens")
    for other in others:
        await does(other, "favourite", own)
        await settle(town)
    [group] = await grouped(ada)
    assert (group["notifications_count"], len(group["sample_account_ids"])) == (10, 8)
    assert group["sample_account_ids"] == [other.id for other in others[:1:-1]]
    said = await post(others[0], f"@{ada.name} roses")
    await settle(town)
    assert len(await grouped(ada)) == 2
    await ada.post(
        "/api/v2/filters",
        json={
            "title": "no roses",
            "context": ["notifications"],
            "filter_action": "hide",
            "keywords_attributes": [{"keyword": "roses"}],
        },
    )
    whole = await ada.get(PATH)
    assert [one["type"] for one in whole["notification_groups"]] == ["favourite"]
    assert said["id"] not in [one["id"] for one in whole["statuses"]]


class _Counting:
    """A session that knows how often it was asked."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        if name in ("all", "one", "slow", "run", "many"):
            self.asked += 1
        return getattr(self._session, name)


async def test_a_page_is_a_fixed_number_of_queries(town: Town) -> None:
    """However many groups there are, and whatever stands in them."""
    ada, bob, cat = await join_all(town, 3)
    for number in range(6):
        own = await post(ada, f"number {number}", quote_approval_policy="public")
        for other in (bob, cat):
            await does(other, "favourite", own)
            await post(other, f"see @{ada.name}", quoted_status_id=own["id"])
    await settle(town)
    everything = NotificationSelection(types=None, grouped=tuple(GROUPED))
    asked: dict[int, list[int]] = {2: [], 40: []}
    async with town.house() as house:
        for limit, counted in asked.items():
            for _ in range(5):  # what is kept is forgotten when a job writes in between
                work = house.works.open()
                counting = work.db = _Counting(work.db)
                rows = await groups.page_of(work, AccountId(int(ada.id)), Cursor(limit=limit), everything)
                _, ids = await group_entities.render_page(
                    work, rows, AccountId(int(ada.id)), partial=False, supported=(), is_ascending=False
                )
                assert len(ids) >= 2
                counted.append(counting.asked)
                await work.rollback()
    assert min(asked[40]) == min(asked[2]) <= 12  # quotes are made anew each time
    assert max(asked[40]) <= 20
