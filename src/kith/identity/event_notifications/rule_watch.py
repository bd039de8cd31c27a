"""Which events a rule may want, so that recording one that nobody wants costs nothing more."""

from __future__ import annotations

import time

from kith.base.news import News
from kith.base.work import Work
from kith.identity.event_notifications import store
from kith.identity.rest.facts import AccessChanged

FRESH_SECONDS = 5.0

Actions = frozenset[str] | None  # None: any


class RuleWatch:
    """The actions that rules ask for, read again after a policy or binding has changed, and every few seconds.

    The news of a change reaches every process; the short time is for processes that hear no news. What is read while
    somebody writes may be undone with it, so that only adds to what is known; `settle` takes away.
    """

    def __init__(self, news: News) -> None:
        self._actions: Actions = frozenset()
        self._until = 0.0
        self._changes = 0
        news.listen(AccessChanged, self._changed)

    def _changed(self, _fact: AccessChanged) -> None:
        self._until = 0.0
        self._changes += 1

    async def wants(self, work: Work, action: str) -> bool:
        if time.monotonic() >= self._until:
            changes = self._changes
            found = await _read(work)
            self._actions = None if found is None or self._actions is None else self._actions | found
            if changes == self._changes:  # else somebody changed a rule while this was read
                self._until = time.monotonic() + FRESH_SECONDS
        return self._actions is None or action in self._actions

    async def settle(self, work: Work) -> None:
        """Forget what no rule asks for any more. Call it before the work writes."""
        changes = self._changes
        found = await _read(work)
        if changes == self._changes:
            self._actions = found


async def _read(work: Work) -> Actions:
    bound = await store.bound_matchers(work.db)
    if any(one.action is None or one.negate or one.failure_result for one in bound):
        return None
    return frozenset(one.action.lower() for one in bound if one.action)
