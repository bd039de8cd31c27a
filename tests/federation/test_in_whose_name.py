"""What somebody elsewhere names to a member is asked for in the member's name at their own server only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kith.federation.inbox.dispatch import dispatch
from kith.federation.inbox.driver import Driver
from kith.federation.inbox.tables import NOBODY, WAITING, Received
from kith.federation.known import Known
from kith.federation.posts import completing
from kith.federation.vocabulary.incoming import read_activity
from kith.social.ids import AccountId
from tests.conftest import TownBuilder
from tests.federation.receiving import AS, create, follow, note_of, somebody
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


@pytest.mark.parametrize("how", ["followed", "named"])
async def test_nor_is_one_whose_post_is_answered(new_town: TownBuilder, how: str) -> None:
    """Whom a member follows, and what is written to them, is nothing to the server of a post that is answered."""
    town = await new_town(worker="off")
    ada, author = await join(town), await somebody(town)
    if how == "followed":
        await follow(ada, author)
        changes: dict[str, Any] = {}
    else:
        mention = {"type": "Mention", "href": ada.me["uri"], "name": f"@{ada.name}"}
        changes = {"to": [ada.me["uri"]], "cc": [], "tag": [mention]}
    own, third = f"{author.uri}/statuses/1", "https://third.example/statuses/1"
    async with town.house() as house:
        for number, parent in enumerate((own, third)):
            answer = create(author, note_of(author, f"answer{number}", inReplyTo=parent, **changes))
            async with house.works.begin() as work:
                await dispatch(work, Known(()), author, read_activity({"@context": AS} | answer))
        async with house.works.begin() as work:
            asked_by = {parent: await completing._reader(work, parent) for parent in (own, third)}

    assert asked_by == {own: AccountId(int(ada.id)), third: None}
