"""Doing what cannot be done before something was fetched: fetch it, start again, and so on, within limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kith.base.jobs import Give
from kith.base.work import Works
from kith.federation.fetching import FetchChain, FetchFailed
from kith.federation.inbox import store
from kith.federation.inbox.floods import has_put_off
from kith.federation.inbox.processing import process
from kith.federation.inbox.tables import Received
from kith.federation.known import Missing
from kith.federation.people.fetching import fetch_actor, fetch_named
from kith.federation.posts.fetching import fetch_note
from kith.federation.vocabulary.incoming import DocumentRefused, parse_document
from kith.federation.vocabulary.incoming.fields import read_object_id
from kith.federation.vocabulary.incoming.ids import same_domain
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships

__all__ = ["Driver"]

MOST_ROUNDS = 300  # a post may mention as many people as that
SHORTEST_PAUSE = timedelta(minutes=1)
WORTH_WAITING = timedelta(hours=3)
SHARE_THAT_WAITS = 0.5


class Driver:
    """Talks to other servers with no transaction open; each thing that comes is stored in one of its own."""

    def __init__(self, works: Works) -> None:
        self._works = works

    async def complete(self, row: Received) -> None:
        """Until nothing is missing any more. Everything that follows from one activity has one budget."""
        chain, asked, unreachable, about = FetchChain(), set[str](), set[str](), _about(row)
        for _ in range(MOST_ROUNDS):
            missing = await self._do(row, unreachable)
            if missing is None:
                return
            if missing.uri in unreachable:
                raise DocumentRefused("no_object", missing.uri)
            if missing.uri in asked or not await self._fetch(row, about, missing, chain):
                unreachable.add(missing.uri)
            asked.add(missing.uri)
        raise DocumentRefused("too_many_values", "more to be fetched than anybody needs")

    async def _do(self, row: Received, unreachable: set[str]) -> Missing | None:
        """In a transaction of its own, with the end of the row; or what is missing."""
        try:
            async with self._works.begin() as work:
                if await store.is_held(work.db, row.id):
                    await process(work, row, unreachable)
                    await store.drop(work.db, [row.id])
        except Missing as missing:
            return missing
        return None

    async def _fetch(self, row: Received, about: str | None, missing: Missing, chain: FetchChain) -> bool:
        try:
            if missing.kind == "actor" and missing.uri == about:
                return await fetch_actor(self._works, missing.uri, chain) is not None
            if missing.kind == "actor":
                return await fetch_named(self._works, missing.uri, row.site, chain) is not None
            reader = await self._reader(row, missing.uri)
            return await fetch_note(self._works, missing.uri, chain, reader=reader) is not None
        except DocumentRefused:
            return False
        except FetchFailed as failed:
            age = datetime.now(UTC) - row.received_at
            if failed.may_pass and age < WORTH_WAITING and missing.uri == about and await self._may_wait(row):
                raise Give(str(failed), later=max(age, SHORTEST_PAUSE)) from failed
            return False

    async def _may_wait(self, row: Received) -> bool:
        """Whether the row may wait for a host that cannot be reached: not if much of the same site waits already."""
        async with self._works.begin() as work:
            return not await has_put_off(work, row.site, SHARE_THAT_WAITS)

    async def _reader(self, row: Received, uri: str) -> AccountId | None:
        """In whose name something is asked for that is not for everybody: of its own server only.

        Any other would be told what members are said to look at, by whoever names its posts to them.
        """
        async with self._works.begin() as work:
            sender = await accounts.find(work.db, row.account_id)
            if sender is None or not same_domain(uri, sender.uri):
                return None
            return row.delivered_to or await relationships.a_follower_here(work.db, row.account_id)


def _about(row: Received) -> str | None:
    """The id of the activity's object, without which it means nothing: the activity waits until the object is there."""
    return read_object_id(parse_document(row.body.encode()).get("object"))
