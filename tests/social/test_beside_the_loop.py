"""What others may add to without end is read beside the loop, however little of it is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from kith.base.paging import Cursor
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId, StatusId
from kith.social.notifications import groups, unread
from kith.social.notifications import reading as notices
from kith.social.notifications import store as notifications
from kith.social.notifications.groups import NotificationSelection
from kith.social.relationships import lists as people
from kith.social.relationships.store import across
from kith.social.statuses import lists
from kith.social.timelines import reading
from tests.social.members import Member, join
from tests.social.test_timelines import Asked
from tests.town import Town

PAGE = Cursor(20)
ME = AccountId(2)
EVERYTHING = NotificationSelection(types=None, grouped=("favourite",))


async def _uris(work: Work, read: Callable[..., Awaitable[Any]], ada: Member) -> None:
    account = await accounts.find(work.db, AccountId(int(ada.id)))
    assert account is not None
    await read(work, account, 0, 13)


async def _direct(work: Work, ada: Member) -> None:
    await reading.direct(work, AccountId(int(ada.id)), PAGE)


READS: dict[str, Callable[[Work, Member], Awaitable[Any]]] = {
    "direct posts": _direct,
    "quotes, also those that nobody allows": lambda work, _: lists.quotes_of(work, StatusId(1), ME, PAGE),
    "favourites of a post": lambda work, _: lists.favourited_by(work, StatusId(1), None, PAGE),
    "boosts of a post": lambda work, _: lists.reblogged_by(work, StatusId(1), None, PAGE),
    "followers, for other servers": lambda work, ada: _uris(work, people.follower_uris, ada),
    "who is followed, for other servers": lambda work, ada: _uris(work, people.followed_uris, ada),
    "followers of a host": lambda work, _: across.followers_at(work.db, ME, "elsewhere.example"),
    "whom a host names": lambda work, _: across.find_ours(work.db, ["https://here.example/users/ada"]),
    "groups of notices": lambda work, _: groups.page_of(work, ME, PAGE, EVERYTHING),
    "how many groups are not read": lambda work, _: groups.count_since(work.db, ME, 0, EVERYTHING, most=100),
    "the same, beside the bell": lambda work, ada: unread.unread_groups(work, AccountId(int(ada.id))),
    "how many notices are not read": lambda work, _: notifications.count_since(
        work.db, ME, 0, types=["mention"], from_id=None, most=100
    ),
    "notices of a type": lambda work, _: notices.page_of(work, ME, PAGE, types=["poll"], from_id=None, filtered=False),
    "notices of somebody": lambda work, _: notices.page_of(
        work, ME, PAGE, types=None, from_id=AccountId(3), filtered=False
    ),
}


@pytest.mark.parametrize("name", READS)
async def test_what_others_may_add_to_is_read_beside_the_loop(town: Town, name: str) -> None:
    ada = await join(town)
    async with town.house() as house, house.works.begin() as work:
        session, work.db = work.db, cast("Any", Asked(work.db))
        await READS[name](work, ada)
        asked, work.db = cast("Any", work.db), session

    assert asked.ways.count("slow") == 1
