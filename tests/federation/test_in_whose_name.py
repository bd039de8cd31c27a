"""What somebody elsewhere names to a member is asked for in the member's name at their own server only."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kith.federation.inbox.driver import Driver
from kith.federation.inbox.tables import NOBODY, WAITING, Received
from kith.social.ids import AccountId
from tests.conftest import TownBuilder
from tests.federation.receiving import follow, somebody
from tests.social.members import join


@pytest.mark.parametrize("to_member", [True, False])
async def test_no_third_server_is_told_what_a_member_is_said_to_look_at(new_town: TownBuilder, to_member: bool) -> None:
    town = await new_town(worker="off")
    ada, author = await join(town), await somebody(town)
    await follow(ada, author)
    me, now = AccountId(int(ada.id)), datetime.now(UTC)
    row = Received(1, author.id, None, me if to_member else NOBODY, "{}", None, WAITING, now, now)

    async with town.house() as house:
        driver = Driver(house.works)
        own = await driver._reader(row, f"{author.uri}/statuses/1")
        third = await driver._reader(row, "https://third.example/statuses/1")

    assert (own, third) == (me, None)
