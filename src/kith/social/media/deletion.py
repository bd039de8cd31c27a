"""What somebody leaves behind: their attachments go with them."""

from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountDeleted
from kith.social.media import service


async def leave(work: Work, fact: AccountDeleted) -> None:
    """A stretch at a time, each a job of its own, until nothing is left."""
    if await service.delete_some_of(work, fact.account_id):
        work.enqueue(LEAVE, fact)


LEAVE: JobKind[AccountDeleted] = JobKind(name="media.leave", payload=AccountDeleted, handler=leave)
