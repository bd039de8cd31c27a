"""The gate: what the team has decided about other servers, kept in memory for every request and every delivery."""

from __future__ import annotations

import time

from kith.base.work import Work, Works
from kith.federation.fetching.ports import ReasonAgainst
from kith.federation.gate.rules import Lists
from kith.social.accounts.tables import Account
from kith.social.admission import store
from kith.social.admission.facts import ServerAllowChanged, ServerBlockChanged
from kith.social.admission.tables import ServerBlock

__all__ = ["Gate"]

SECONDS = 10.0  # what is kept is read again after so long, although its changes are told
_STILL_HEARD = frozenset({"Delete", "Reject", "Undo", "Update"})


class Gate:
    """Whom we talk to and hear. Own domains are always let in.

    What was decided in another process is known here once its news has come, and after ten seconds at the latest.
    """

    def __init__(self, works: Works) -> None:
        self._works = works
        self._until = 0.0
        self._changes = 0
        self._begun = 0  # how many times they were read
        self._kept = 0  # which of those is kept
        self._lists: Lists | None = None
        works.news.listen(ServerBlockChanged, self._forget)
        works.news.listen(ServerAllowChanged, self._forget)

    def _forget(self, _fact: ServerBlockChanged | ServerAllowChanged) -> None:
        self.look_again()

    def look_again(self) -> None:
        """For whoever acts on what was decided a moment ago, wherever that was."""
        self._lists = None
        self._changes += 1

    # Servers

    async def reason_against(self, domain: str) -> ReasonAgainst | None:
        """For fetching: nothing is asked of a server that is shut out, nor of ourselves, who know what is here."""
        if self._works.settings.is_own_domain(domain):
            return "own_domain"
        return None if await self.admits(domain) else "blocked"

    async def admits(self, domain: str, work: Work | None = None) -> bool:
        """In and out. Give the work where one is open, so that no second connection is needed to look."""
        return self._admits(await self._fresh(work), domain)

    async def block_of(self, domain: str, work: Work | None = None) -> ServerBlock | None:
        """What the team has decided about a server or the nearest one above it."""
        return (await self._fresh(work)).block_of(domain)

    async def takes_reports_of(self, domain: str, work: Work | None = None) -> bool:
        found = await self.block_of(domain, work)
        return found is None or not (found.reject_reports or found.severity == "suspend")

    # People

    def hears(self, sender: Account, activity_type: str) -> bool:
        """Whoever is suspended can still take back what they did, and nothing else."""
        return sender.suspended_at is None or activity_type in _STILL_HEARD

    # What is kept

    def _admits(self, lists: Lists, domain: str) -> bool:
        return self._works.settings.is_own_domain(domain) or lists.admits(domain)

    async def _fresh(self, work: Work | None) -> Lists:
        if self._lists is not None and time.monotonic() < self._until:
            return self._lists
        self._begun += 1
        begun, changes, until = self._begun, self._changes, time.monotonic() + SECONDS
        read = await self._read(work)
        # What was read may be older than what was told meanwhile, or than what somebody read who began later.
        if changes == self._changes and begun > self._kept:
            self._lists, self._until, self._kept = read, until, begun
        return read

    async def _read(self, work: Work | None) -> Lists:
        if work is not None:
            return await self._lists_of(work)
        reading = self._works.open()
        try:
            return await self._lists_of(reading)
        finally:
            await reading.rollback()

    async def _lists_of(self, work: Work) -> Lists:
        blocks: list[ServerBlock] = await store.every(work.db, "domain_block")
        allowed = None
        if self._works.settings.is_allow_list:
            allowed = frozenset(one.domain for one in await store.every(work.db, "domain_allow"))
        return Lists({one.domain: one for one in blocks}, allowed)
