"""Ending what was given an end, when it has come: people, memberships, bindings and requests.

A job waits for each moment from the transaction that set it. Whoever looks after the moment finds it ended already;
the job tells those who hold a copy. A periodic job ends what no job waited for.
"""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.access_requests import expiry as access_requests
from kith.identity.memberships import service as memberships
from kith.identity.policies import expiry as policies
from kith.identity.rest.facts import EndPlanned
from kith.identity.users import expiry as users

AT_ONCE = 100


class DueEnds(msgspec.Struct):
    """The job that ends everything whose end has come."""


async def end_due(work: Work, _payload: DueEnds) -> None:
    await work.db.hold("identity.due_ends")  # of several workers one at a time
    kinds = (users.end_due, memberships.end_due, policies.tell_due, access_requests.end_due)
    counts = [await end(work, AT_ONCE) for end in kinds]
    if AT_ONCE in counts:
        work.enqueue(END, DueEnds())


async def plan(work: Work, fact: EndPlanned) -> None:
    work.enqueue(END, DueEnds(), at=fact.at, key=f"at {fact.at.isoformat()}")


END: JobKind[DueEnds] = JobKind(name="identity.due_ends", payload=DueEnds, handler=end_due)
