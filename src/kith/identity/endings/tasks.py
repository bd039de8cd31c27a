"""Ending what was given an end, when it has come: people, memberships, bindings and requests.

A job waits for each moment from the transaction that set it. Whoever looks after the moment finds it ended already;
the job tells those who hold a copy. A periodic job ends what no job waited for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.access_requests import expiry as access_requests
from kith.identity.memberships import service as memberships
from kith.identity.policies import expiry as policies
from kith.identity.rest.facts import AccessChanged, EndPlanned
from kith.identity.users import expiry as users
from kith.identity.users.service import UserDeleted

AT_ONCE = 100


class DueEnds(msgspec.Struct):
    """The job that ends everything whose end has come, or everything of one kind."""


def _ending(what: str, end: Callable[[Work, int], Awaitable[int]]) -> JobKind[DueEnds]:
    """A job of its own for each kind of thing, so that one that fails does not keep the others from being done."""
    name = f"identity.due_ends_of_{what}"

    async def end_due(work: Work, _payloads: Sequence[DueEnds]) -> None:
        await work.db.hold(name)  # of several workers one at a time
        if await end(work, AT_ONCE) == AT_ONCE:
            work.enqueue(kind, DueEnds())

    kind: JobKind[DueEnds] = JobKind(name=name, payload=DueEnds, many=end_due)
    return kind


async def plan(work: Work, fact: EndPlanned) -> None:
    work.enqueue(END, DueEnds(), at=fact.at, key=f"at {fact.at.isoformat()}")


async def look(work: Work, _fact: UserDeleted | AccessChanged) -> None:
    """Somebody, or a group, may be gone whom a binding names."""
    work.enqueue(GONE, DueEnds(), key="gone")


GONE = _ending("bound_people_and_groups", policies.tell_gone)
KINDS = (
    _ending("people", users.end_due),
    _ending("memberships", memberships.end_due),
    _ending("bindings", policies.tell_due),
    GONE,
    _ending("requests", access_requests.end_due),
)
END: JobKind[DueEnds] = JobKind(name="identity.due_ends", payload=DueEnds, parts=KINDS)
