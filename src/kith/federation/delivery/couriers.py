"""What everything that a process sends has in common."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from weakref import WeakValueDictionary

import msgspec

from kith.base import asking
from kith.base.breath import Breath
from kith.base.errors import Unavailable
from kith.base.http import Outgoing
from kith.base.work import Work, Works
from kith.federation.delivery import store
from kith.federation.delivery.ledger import Ledger
from kith.federation.delivery.signing_desk import SigningDesk
from kith.federation.signatures.digests import sha256

__all__ = ["HELD", "Content", "Couriers"]

HELD = timedelta(seconds=30)  # and ever again, while this process lives
HOLD_AGAIN_SECONDS = 10.0


class Content(msgspec.Struct, frozen=True, weakref=True):
    """The body of an activity and its digest, shared by all hosts that it is sent to."""

    body: bytes
    digest: bytes
    with_previous_key: bool


class Couriers:
    """What all that is sent by this process shares."""

    def __init__(self, works: Works) -> None:
        self.id = str(uuid.uuid4())
        self.is_alone = works.settings.is_sqlite  # then no other process sends
        self.outgoing: Outgoing = works.services[Outgoing]
        self.ledger = Ledger(works)
        self.desk = SigningDesk()
        self._works = works
        self._contents: WeakValueDictionary[int, Content] = WeakValueDictionary()
        self._held: set[int] = set()
        self._holding: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """What is known is written down, and what was not sent is given back."""
        await self.ledger.close()
        await self.desk.close()
        if self._holding is not None:
            self._holding.cancel()
            async with self._works.begin() as work:
                await store.release_all(work.db, self.id)

    async def contents(self, work: Work, ids: Collection[int]) -> Mapping[int, Content]:
        """The contents of activities, by id. What is being sent to another host is neither read nor hashed again."""
        found = {id: content for id in ids if (content := self._contents.get(id)) is not None}
        breath = Breath()
        for id, row in (await store.outgoing_of(work.db, [id for id in ids if id not in found])).items():
            body = row.activity.encode()
            content = Content(body, sha256(body), row.with_previous_key)
            found[id] = self._contents.setdefault(id, content)
            await breath.take()
        return found

    @contextmanager
    def holding(self, ids: Collection[int]) -> Iterator[None]:
        """Until these are sent or given back, they stay this process's own, however long that takes."""
        self._held.update(ids)
        if self._holding is None:
            self._holding = asking.begin_for_everybody(self._go_on_holding())
        try:
            yield
        finally:
            self._held.difference_update(ids)

    async def hold_again(self) -> None:
        """For as long as at first, counted from now."""
        if self._held:
            async with self._works.begin() as work:
                await store.hold(work.db, sorted(self._held), self.id, work.now + HELD)

    async def _go_on_holding(self) -> None:
        while True:
            await asyncio.sleep(HOLD_AGAIN_SECONDS)
            with suppress(Unavailable):
                await self.hold_again()
