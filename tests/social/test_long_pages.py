"""Pages of people whose profiles are as long as their servers let them be: they end in time, and lead on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from kith.base.db import command
from kith.social.accounts.tables import Account
from kith.social.conversations import store as conversations
from kith.social.conversations.tables import Conversation, participants_of
from kith.social.ids import AccountId, StatusId
from kith.social.lists import store as lists
from kith.social.notifications.service import Notice, favourite_key, tell_anyhow
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from kith.social.statuses import store as statuses
from kith.social.statuses.service.revisions import snapshot
from kith.social.statuses.tables import DIRECT
from kith.social.statuses.tables import statuses as statuses_table
from tests.social.members import Member, join, stranger, strangers
from tests.social.posts import post, said_elsewhere, walk
from tests.social.test_lists import new_list
from tests.town import Town

LONG = {"note_html": "a" * 60_000, "display_name": "b" * 70_000}
MOST = 9 << 20


@pytest.fixture
async def people(town: Town) -> list[Account]:
    return await strangers(town, 100, "long.example", **LONG)


async def _follow(town: Town, pairs: Sequence[tuple[Member | Account, Member | Account]]) -> None:
    async with town.house() as house, house.works.begin() as work:
        for one, other in pairs:
            row = Follow(
                work.new_id(), AccountId(int(one.id)), AccountId(int(other.id)), True, False, None, None, work.now
            )
            await relationships.add_follow(work.db, row)


async def _walked(member: Member, path: str) -> set[str]:
    """All who are found there; each page is asked for again, to see how long it is."""
    found: list[str] = []
    for page in await walk(member, path):
        assert page
        found += page
    assert len((await member.call("GET", path)).content) < MOST
    assert len(set(found)) == len(found)
    return set(found)


async def test_everybody_at_once_are_as_many_as_there_is_room_for(town: Town, people: list[Account]) -> None:
    ada = await join(town)
    await _follow(town, [(ada, one) for one in people])
    list_id = await new_list(ada)
    async with town.house() as house, house.works.begin() as work:
        for one in people:
            await lists.add(work.db, int(list_id), one.id, id=work.new_id())
            await relationships.endorse(work.db, AccountId(int(ada.id)), one.id, id=work.new_id(), now=work.now)
    wanted = {str(one.id) for one in people}

    for path in (f"/api/v1/lists/{list_id}/accounts?limit=0", "/api/v1/endorsements?limit=0"):
        first = await ada.call("GET", path)
        assert (len(first.content) < MOST, 'rel="next"' in first.headers["link"]) == (True, True)
        assert await _walked(ada, path) == wanted


async def test_a_page_of_people_ends_where_it_is_long(town: Town, people: list[Account]) -> None:
    ada = await join(town)
    await _follow(town, [(ada, one) for one in people])
    wanted = {str(one.id) for one in people}
    assert await _walked(ada, f"/api/v1/accounts/{ada.id}/following?limit=80") == wanted


async def test_familiar_followers_of_several_are_fewer_of_each(town: Town, people: list[Account]) -> None:
    ada = await join(town)
    others = await strangers(town, 40)
    some = people[:50]
    await _follow(town, [(ada, one) for one in some])
    await _follow(town, [(one, other) for one in some for other in others])
    path = "/api/v1/accounts/familiar_followers"

    for count, shown in ((1, 50), (2, 40), (8, 20), (40, 4)):
        asked = [str(one.id) for one in others[:count]]
        told = await ada.get(path, params={"id[]": asked})
        assert [(one["id"], len(one["accounts"])) for one in told] == [(id, shown) for id in asked]


async def test_of_a_conversation_of_many_some_are_shown_and_a_page_of_them_ends_where_it_is_long(
    town: Town, people: list[Account]
) -> None:
    ada, author = await join(town), await stranger(town)
    me, made = AccountId(int(ada.id)), []
    for number in range(10):
        said = await said_elsewhere(town, author, visibility=DIRECT)
        made.append(str(said))
        async with town.house() as house, house.works.begin() as work:
            named = participants_of({author.id, *(one.id for one in people[number : number + 60])})
            row = Conversation(work.new_id(), me, int(said), named, StatusId(int(said)), True)
            await conversations.insert(work.db, row)

    whole = await ada.call("GET", "/api/v1/conversations")
    assert len(whole.content) < MOST
    assert {len(one["accounts"]) for one in whole.json()} == {20}
    wanted = {one["id"] for page in [await ada.get("/api/v1/conversations?limit=3")] for one in page}
    pages = await walk(ada, "/api/v1/conversations")
    assert [len(page) for page in pages] == [3, 3, 3, 1]
    assert set(pages[0]) == wanted
    back = await walk(ada, "/api/v1/conversations?min_id=1", back=True)
    assert [id for page in reversed(back) for id in page] == [id for page in pages for id in page]


async def test_posts_of_somebody_end_where_they_are_long_and_lead_on(town: Town, people: list[Account]) -> None:
    ada, author = await join(town), people[0]
    made = [await said_elsewhere(town, author, content="<p>" + "c" * 150_000 + "</p>") for _ in range(42)]
    path = f"/api/v1/accounts/{author.id}/statuses"

    for _ in range(2):  # made, then kept
        first = await ada.call("GET", f"{path}?limit=40")
        assert len(first.content) < MOST
        pages = await walk(ada, f"{path}?limit=40")
        assert [id for page in pages for id in page] == made[::-1]
    back = await walk(ada, f"{path}?limit=40&min_id=1", back=True)
    assert [id for page in reversed(back) for id in page] == made[::-1]


async def test_a_thread_ends_where_it_is_long(town: Town) -> None:
    """On its page as well, where a quotation mark takes five letters."""
    ada, author = await join(town), await stranger(town)
    said = await post(ada, "What do you think?")
    above: dict[str, Any] = {
        "in_reply_to_id": StatusId(int(said["id"])),
        "in_reply_to_account_id": AccountId(int(ada.id)),
    }
    for _ in range(50):
        answer = await said_elsewhere(town, author, content=f"<p>{'&quot;' * 25_000}</p>", **above)

    page = await town.http.get(f"/@{ada.name}/{said['id']}")
    context = await ada.call("GET", f"/api/v1/statuses/{said['id']}/context")

    assert (page.status_code, len(page.content) < MOST) == (200, True), len(page.content)
    assert 5 < page.text.count("<article") < 50
    assert len(context.content) < MOST
    assert len((await town.http.get(f"/@{author.username}@{author.domain}/{answer}")).content) < MOST


async def test_of_many_long_versions_of_a_post_the_first_and_the_newest_are_shown(town: Town) -> None:
    ada, author = await join(town), await stranger(town)
    id = await said_elsewhere(town, author)
    async with town.house() as house, house.works.begin() as work:
        status = await statuses.find(work.db, StatusId(int(id)))
        assert status is not None
        for number in range(60):
            edit = await snapshot(work, status, at_edit=True)
            edit.content = f"<p>{number} {'v' * 150_000}</p>"
            await statuses.insert_edit(work.db, edit)

    whole = await ada.call("GET", f"/api/v1/statuses/{id}/history")
    page = await town.http.get(f"/@{author.username}@{author.domain}/{id}/history")

    told = [int(one["content"][3:].split()[0]) for one in whole.json()]
    assert (len(whole.content) < MOST, len(page.content) < MOST) == (True, True)
    assert told == [0, *range(60 - len(told) + 1, 60)]
    assert len(told) > 10


@pytest.mark.parametrize("supported", [{}, {"supported_types[]": "mention"}])
async def test_notifications_end_where_they_are_long_and_lead_on(
    town: Town, people: list[Account], supported: dict[str, str]
) -> None:
    """With types told in a sentence nothing of the page is kept."""
    ada = await join(town)
    me = AccountId(int(ada.id))
    said = [StatusId(int((await post(ada, f"number {number}"))["id"])) for number in range(15)]
    async with town.house() as house, house.works.begin() as work:
        for one in people:
            await tell_anyhow(work, "admin.sign_up", one.id, [Notice(me, f"admin.sign_up:{one.id}")])
        for number, status in enumerate(said):
            for one in people[number * 6 : number * 6 + 6]:
                notice = Notice(me, favourite_key(status, one.id), status)
                await tell_anyhow(work, "favourite", one.id, [notice])

    query = "&".join(f"{name}={value}" for name, value in supported.items())
    for _ in range(2):
        path = f"/api/v1/notifications?limit=80&{query}"
        assert len((await ada.call("GET", path)).content) < MOST
        forward = [id for page in await walk(ada, path) for id in page]
        back = await walk(ada, f"{path}&min_id=1", back=True)
        assert len(forward) == len(set(forward)) == 190
        assert [id for page in reversed(back) for id in page] == forward
    for more in ("", "&expand_accounts=partial_avatars"):
        await _walk_groups(ada, f"/api/v2/notifications?limit=80&{query}{more}")


async def _walk_groups(member: Member, path: str) -> None:
    """Every group comes once, or again where some of it is older; who and what it names comes with it."""
    groups: set[str] = set()
    url: str | None = path
    while url is not None:
        answer = await member.call("GET", url)
        found = answer.json()
        assert len(answer.content) < MOST
        known = {one["id"] for one in [*found["accounts"], *found.get("partial_accounts", [])]}
        assert known == {id for one in found["notification_groups"] for id in one["sample_account_ids"]}
        assert {one["id"] for one in found["statuses"]} == {
            one["status_id"] for one in found["notification_groups"] if "status_id" in one
        }
        groups |= {one["group_key"] for one in found["notification_groups"]}
        link = re.search(r'<([^>]+)>; rel="next"', answer.headers.get("link", "")) if known else None
        url = link.group(1) if link else None
    assert sum(1 for key in groups if key.startswith("favourite")) == 15


_answers = command(
    update(statuses_table)
    .where(statuses_table.c.id == bindparam("status"))
    .values(in_reply_to_id=bindparam("parent"), in_reply_to_account_id=statuses_table.c.account_id)
)


@pytest.mark.both_databases
@pytest.mark.parametrize("count", [1, 2, 5])
async def test_a_thread_that_goes_in_a_circle_ends(town: Town, count: int) -> None:
    """As posts may that came with a backup or from another server: every one answers the one before, the first the last."""
    ada = await join(town)
    ids = [(await post(ada, f"number {number}"))["id"] for number in range(count)]
    beside = (await post(ada, "beside it", in_reply_to_id=ids[0]))["id"]
    async with town.house() as house, house.works.begin() as work:
        for id, parent in zip(ids, [ids[-1], *ids], strict=False):
            await work.db.run(_answers, status=int(id), parent=int(parent))

    for headers in ({}, {"Authorization": f"Bearer {ada.token}"}):
        answer = await town.http.get(f"/api/v1/statuses/{ids[0]}/context", headers=headers)
        assert answer.status_code == 200
        around = [one["id"] for part in answer.json().values() for one in part]
        assert set(around) == {*ids[1:], beside}
        assert len(answer.json()["descendants"]) == len({one["id"] for one in answer.json()["descendants"]})
        assert len(answer.json()["ancestors"]) == len({one["id"] for one in answer.json()["ancestors"]})
    assert (await town.http.get(f"/@{ada.name}/{ids[0]}")).status_code == 200
    answered = await post(ada, "and on it goes", in_reply_to_id=ids[-1])
    assert answered["in_reply_to_id"] == ids[-1]
