"""Makes the example community in a database that nobody uses yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import msgspec

from kith.base.errors import Conflict
from kith.base.settings import Settings
from kith.cli.demo.past import Past, open_past
from kith.cli.demo.story import LENGTH, Story
from kith.cli.demo.team import plan_team
from kith.cli.first_rows import offer_start
from kith.federation.keys.key_pairs import new_pair
from kith.federation.keys.service import ActorKeys
from kith.identity.users.passwords import Passwords
from kith.social.trends.tasks import REFRESH, RefreshTrends

__all__ = ["DemoLogin", "make"]

# A hundred sign-ins are told. A hash says what it cost, and is made anew at the next real sign-in.
_QUICK = Passwords(rounds=1, kibibytes=64)
_AHEAD = 6  # key pairs waiting for somebody who joins


class DemoLogin(msgspec.Struct, frozen=True):
    """With which name and password one can look around, and as what."""

    role: str
    username: str
    password: str


async def make(settings: Settings, *, ends_at: datetime | None = None) -> list[DemoLogin]:
    ends_at = ends_at or datetime.now(UTC)
    async with _pairs_ahead() as pairs, open_past(settings, ends_at - LENGTH) as past:
        past.house.works.services[Passwords] = _QUICK
        past.house.works.services[ActorKeys] = ActorKeys(pairs.get)
        async with past.house.works.begin() as work:
            token = await offer_start(work)
        if token is None:
            raise Conflict("people live in this database already")
        story = Story(past, ends_at)
        await story.begin(token)
        plan_team(story)
        story.plan_people()
        story.plan_talk()
        await story.tell()
        await _refresh_trends(past)
    people = (("owner", story.owner), ("moderator", story.moderator), ("member", story.member))
    return [DemoLogin(role, person.name, person.password) for role, person in people]


@asynccontextmanager
async def _pairs_ahead() -> AsyncIterator[asyncio.Queue[tuple[str, str]]]:
    """Key pairs made beside the story: each takes a good part of a second, and everybody who joins needs one."""
    pairs: asyncio.Queue[tuple[str, str]] = asyncio.Queue(_AHEAD)

    async def make_pairs() -> None:
        while True:
            await pairs.put(await new_pair())

    making = asyncio.create_task(make_pairs())
    try:
        yield pairs
    finally:
        making.cancel()
        await asyncio.wait([making])


async def _refresh_trends(past: Past) -> None:
    """The worker does it every few minutes; whoever looks at once sees them, too."""
    async with past.house.works.begin() as work:
        work.enqueue(REFRESH, RefreshTrends())
    await past.settle()
