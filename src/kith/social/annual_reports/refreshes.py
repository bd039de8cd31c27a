"""What tells a client when to ask again while a report is counted."""

from __future__ import annotations

from kith.base.work import Work
from kith.social.annual_reports import service
from kith.social.ids import AccountId

PREFIX = "annual_report"
SECONDS = 2


def header_value(me: AccountId, year: int) -> bytes:
    return f'id="{PREFIX}:{me}:{year}", retry={SECONDS}'.encode()


async def is_over(work: Work, me: AccountId, about: str) -> bool | None:
    """Whether the report of a year is there by now; None where nobody waits for it."""
    if not (about.isascii() and about.isdigit() and len(about) == 4):
        return None
    state = await service.state_of(work, me, int(about))
    return {"available": True, "generating": False}.get(state)
