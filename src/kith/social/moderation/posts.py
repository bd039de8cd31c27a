"""What the team does to posts: they are deleted, or their media marked as sensitive."""

from __future__ import annotations

from collections.abc import Sequence

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.ids import StatusId
from kith.social.moderation.tables import Strike
from kith.social.statuses import store as statuses
from kith.social.statuses.service.remove import remove
from kith.social.statuses.service.sensitivity import set_sensitive
from kith.social.statuses.tables import Status

DELETE, MARK = "delete_statuses", "mark_statuses_as_sensitive"
TYPES = (DELETE, MARK)
MOST = 100


async def choose(
    work: Work, account: Account, type: str, named: Sequence[int], reported: Sequence[int]
) -> list[Status]:
    """Those that are named, or all that were reported and are still there. Only media and previews can be marked."""
    if len(named) > MOST:
        raise Invalid(fields={"status_ids": [Complaint(f"is too long (maximum is {MOST} entries)", "too_many")]})
    ids = [StatusId(id) for id in dict.fromkeys(named or reported)]
    found = await statuses.find_all(work.db, ids)
    theirs = [one for id in ids if (one := found.get(id)) and one.account_id == account.id and one.deleted_at is None]
    if named and len(theirs) < len(ids):
        raise NotFound
    if type == MARK:
        theirs = [one for one in theirs if one.media_ids or one.card_id is not None]
    if not theirs:
        raise Invalid(fields={"status_ids": [Complaint("can't be blank", "blank")]})
    return theirs


async def apply(work: Work, type: str, chosen: Sequence[Status]) -> None:
    for one in chosen:
        if type == DELETE:
            await remove(work, one, with_media=True)
        else:
            await set_sensitive(work, one, sensitive=True)


async def unmark(work: Work, strike: Strike) -> None:
    """After an appeal; what its author hides behind a warning stays sensitive, and what was deleted is gone."""
    if strike.action != MARK:
        return
    found = await statuses.find_all(work.db, [StatusId(int(id)) for id in strike.status_ids])
    for one in found.values():
        if one.deleted_at is None and not one.spoiler_text:
            await set_sensitive(work, one, sensitive=False)
