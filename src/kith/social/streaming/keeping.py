"""What keeps the streams of a process going: facts are carried, rights are checked again, hearts beat.

The tasks are begun when somebody first listens; a process in which nobody does costs nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from itertools import groupby
from typing import Any

from kith.base import asking
from kith.base.counted_log import log_counted
from kith.base.news import Fact
from kith.base.work import Works
from kith.identity import for_social as identity
from kith.social.accounts.facts import AccountChanged, AccountDeleted
from kith.social.ids import AccountId
from kith.social.notifications.facts import NotificationMade
from kith.social.streaming import store
from kith.social.streaming.carrying import FACTS, StreamCarrier
from kith.social.streaming.connections import StreamConnection
from kith.social.streaming.hub import BEATS, Hub

__all__ = ["Streaming"]

AT_ONCE = 200  # facts that are looked up together
MOST_WAITING = 20_000  # facts; who is that far behind starts anew
NOTED_SECONDS = 3600.0  # before it is noted again that somebody is here
BARRED, TRY_AGAIN = 1008, 1013
ENDED = "access ended"


class Streaming:
    """The streams of one process."""

    def __init__(self, works: Works) -> None:
        self._works = works
        self.hub = Hub(works.settings)
        self._carrier = StreamCarrier(self.hub)
        self._facts: list[Fact] = []
        self._doubtful: dict[StreamConnection, None] = {}
        self._addressed: set[AccountId] = set()  # those who listen here, and were just told of something
        self._noted_until: dict[AccountId, float] = {}  # of those it was noted that they are here
        self._fact_came, self._doubt_came, self._address_came = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.hub.on_join = self._on_join
        for kind in FACTS:
            works.news.listen(kind, self._on_fact)
        for kind, meant in _ENDINGS.items():
            works.news.listen(kind, _doubting(self, meant))
        works.news.listen(NotificationMade, self._on_notification)
        works.news.listen(identity.SessionRenewed, self._on_renewed)
        works.news.listen(identity.SessionEnded, self._on_session_ended)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # Who joins, and what happens

    def _on_join(self, connection: StreamConnection) -> None:
        """Its right is looked at once more: it may have ended between the first look and this moment."""
        if not self._tasks:
            chores = (self._carry(), self._check(), self._note(), self._beat())
            self._tasks = [asking.begin_for_everybody(chore) for chore in chores]
        self.doubt([connection])

    def _on_fact(self, fact: Fact) -> None:
        if not self._carrier.wants(fact):
            return
        if len(self._facts) >= MOST_WAITING:
            self._start_anew("too far behind")
        self._facts.append(fact)
        self._fact_came.set()

    def _on_notification(self, fact: NotificationMade) -> None:
        is_noted = self._noted_until.get(fact.account_id, 0.0) > time.monotonic()
        if not is_noted and self.hub.is_listening(fact.account_id):
            self._addressed.add(fact.account_id)
            self._address_came.set()

    def _start_anew(self, why: str) -> None:
        """Better to have all come again, and read what they missed, than to be ever later or miss it for good."""
        log_counted("warning", "streaming.started_anew", why, why=why, streams=len(self.hub.connections))
        self._facts.clear()
        for connection in list(self.hub.connections):
            self.hub.close(connection, TRY_AGAIN, why)

    def _on_renewed(self, fact: identity.SessionRenewed) -> None:
        for connection in self.hub.connections:
            if connection.session_uuid == fact.old:
                connection.session_uuid = fact.new

    def _on_session_ended(self, fact: identity.SessionEnded) -> None:
        """What was opened with a token from that session ends; a token that outlives the session opens it again."""
        for connection in list(self.hub.connections):
            if connection.session_uuid == fact.session_uuid:
                self.hub.close(connection, BARRED, ENDED)

    def doubt(self, connections: Iterable[StreamConnection]) -> None:
        """Look again whether they may still listen."""
        self._doubtful.update(dict.fromkeys(connections))
        if self._doubtful:
            self._doubt_came.set()

    # What runs meanwhile

    async def _carry(self) -> None:
        while True:
            await self._fact_came.wait()
            some, self._facts = self._facts[:AT_ONCE], self._facts[AT_ONCE:]
            if not self._facts:
                self._fact_came.clear()
            for _kind, alike in groupby(some, type):
                if not await self._safely("streaming.not_carried", self._carry_alike(list(alike))):
                    self._start_anew("something was missed")

    async def _carry_alike(self, facts: list[Fact]) -> None:
        async with self._works.begin() as work:
            await self._carrier.carry(work, facts)

    async def _check(self) -> None:
        while True:
            await self._doubt_came.wait()
            self._doubt_came.clear()
            some, self._doubtful = list(self._doubtful), {}
            await self._safely("streaming.not_checked", self._check_some(some))

    async def _check_some(self, connections: list[StreamConnection]) -> None:
        listeners = [one.listener for one in connections if one.is_open]
        if not listeners:
            return
        async with self._works.begin() as work:
            good = await identity.still_open(work, list({one.key_hash for one in listeners}))
            barred = await store.barred(work.db, {one.account_id for one in listeners})
        for connection in connections:
            listener = connection.listener
            if listener.key_hash not in good or listener.account_id in barred:
                self.hub.close(connection, BARRED, ENDED)

    async def _note(self) -> None:
        while True:
            await self._address_came.wait()
            self._address_came.clear()
            some, self._addressed = self._addressed, set()
            await self._safely("streaming.not_noted", self._note_some(some))

    async def _note_some(self, account_ids: set[AccountId]) -> None:
        """They see it come, and are not written to: whoever asks, in whichever process, finds that they are here."""
        theirs = [one.listener for one in self.hub.connections if one.listener.account_id in account_ids]
        async with self._works.begin() as work:
            await identity.note_listening(work, {one.key_hash for one in theirs})
        now = time.monotonic()
        kept = {id: until for id, until in self._noted_until.items() if until > now}
        self._noted_until = kept | dict.fromkeys(account_ids, now + NOTED_SECONDS)

    async def _beat(self) -> None:
        """Every second: heartbeats for some, and a look at the rights of all.

        Most endings are heard of at once. What a command does beside a server on SQLite, and what ends by time, is
        found by looking.
        """
        beat = 0
        while True:
            await asyncio.sleep(1)
            beat = (beat + 1) % BEATS
            self.hub.thump(beat)
            self.doubt(self.hub.connections)

    async def _safely(self, event: str, doing: Coroutine[Any, Any, None]) -> bool:
        """One thing that cannot be done must not keep the next from being done. Whether it was done."""
        try:
            await doing
        except Exception as error:  # noqa: BLE001
            log_counted("error", event, error=error)
            return False
        return True


_Meant = Callable[[Any, StreamConnection], bool]
# Whose right may have ended with each of these; whether it has, the database says.
_ENDINGS: dict[type[Fact], _Meant] = {
    identity.AccessEnded: lambda fact, one: one.listener.key_hash in fact.key_hashes,
    identity.UserBarred: lambda fact, one: one.listener.user_id == fact.user_id,
    identity.UserChanged: lambda fact, one: one.listener.user_id == fact.user_id,
    identity.UserDeleted: lambda fact, one: one.listener.user_id == fact.user_id,
    AccountChanged: lambda fact, one: one.listener.account_id == fact.account_id,
    AccountDeleted: lambda fact, one: one.listener.account_id == fact.account_id,
}


def _doubting(streaming: Streaming, is_meant: _Meant) -> Callable[[Any], None]:
    def hear(fact: Any) -> None:
        streaming.doubt(one for one in streaming.hub.connections if is_meant(fact, one))

    return hear
