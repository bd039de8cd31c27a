"""Which events a rule may want, so that recording one that nobody wants costs nothing more."""

from __future__ import annotations

import time

from kith.base.news import News
from kith.base.work import Work
from kith.identity.audit.facts import EventRecorded
from kith.identity.event_notifications import store
from kith.identity.event_notifications.tasks import MATCH
from kith.identity.rest.facts import AccessChanged

FRESH_SECONDS = 5.0


class RuleWatch:
    """The actions that rules ask for, read again after a policy or binding has changed, and every few seconds.

    The news of a change reaches every process; the short time is for processes that hear no news.
    """

    def __init__(self, news: News) -> None:
        self._actions: frozenset[str] | None = frozenset()  # None: any action
        self._until = 0.0
        self._changes = 0
        news.listen(AccessChanged, self._changed)

    def _changed(self, _fact: AccessChanged) -> None:
        self._until = 0.0
        self._changes += 1

    async def wants(self, work: Work, action: str) -> bool:
        if time.monotonic() >= self._until:
            await self._read(work)
        return self._actions is None or action in self._actions

    async def _read(self, work: Work) -> None:
        changes = self._changes
        bound = await store.bound_matchers(work.db)
        is_any = any(one.action is None or one.negate or one.failure_result for one in bound)
        self._actions = None if is_any else frozenset(one.action.lower() for one in bound if one.action)
        if changes == self._changes:  # else somebody changed a rule while this was read
            self._until = time.monotonic() + FRESH_SECONDS


async def hear(work: Work, fact: EventRecorded) -> None:
    """Have the rules asked about an event, in a job of the event's own transaction."""
    if await work.find(RuleWatch).wants(work, fact.action):
        work.enqueue(MATCH, fact)
