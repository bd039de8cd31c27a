"""Whether somebody's old posts are deleted, and which of them stay: their own choice, off unless they make it."""

from __future__ import annotations

from datetime import datetime

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.work import Work
from kith.social.cleanup import store
from kith.social.cleanup.tables import AGES, WEEK, CleanupPolicy
from kith.social.ids import AccountId

LEAST, MOST = 1, 2**31 - 1
_THRESHOLDS = ("min_favs", "min_reblogs")


class CleanupChange(msgspec.Struct, kw_only=True):
    """What is left out stays as it was; an empty number of favourites or boosts means that they keep nothing."""

    enabled: bool | None = None
    min_status_age: int | None = None
    keep_direct: bool | None = None
    keep_pinned: bool | None = None
    keep_polls: bool | None = None
    keep_media: bool | None = None
    keep_self_fav: bool | None = None
    keep_self_bookmark: bool | None = None
    min_favs: int | msgspec.UnsetType | None = msgspec.UNSET
    min_reblogs: int | msgspec.UnsetType | None = msgspec.UNSET


def default_for(account_id: AccountId, now: datetime) -> CleanupPolicy:
    return CleanupPolicy(
        account_id, enabled=False, min_status_age=2 * WEEK, keep_direct=True, keep_pinned=True, keep_polls=False,
        keep_media=False, keep_self_fav=True, keep_self_bookmark=True, min_favs=None, min_reblogs=None, inspected_id=0,
        restarts_at=now, next_at=now,
    )  # fmt: skip


async def policy_of(work: Work, me: AccountId) -> CleanupPolicy:
    return await store.find(work.db, me) or default_for(me, work.now)


async def change(work: Work, me: AccountId, wanted: CleanupChange) -> CleanupPolicy:
    """All old posts are looked at anew: what stayed so far may have to go."""
    await work.db.begin()
    given = {
        name: value
        for name in CleanupChange.__struct_fields__
        if (value := getattr(wanted, name)) is not msgspec.UNSET and (value is not None or name in _THRESHOLDS)
    }
    changed = msgspec.structs.replace(await policy_of(work, me), **given)
    _check(changed)
    changed.inspected_id, changed.restarts_at, changed.next_at = 0, work.now, work.now
    await store.save(work.db, changed)
    return changed


def _check(policy: CleanupPolicy) -> None:
    wrong: dict[str, list[str]] = {}
    if policy.min_status_age not in AGES:
        wrong["min_status_age"] = [Complaint("is not included in the list", "inclusion")]
    for name in _THRESHOLDS:
        least = getattr(policy, name)
        if least is not None and least < LEAST:
            wrong[name] = [Complaint(f"must be greater than or equal to {LEAST}")]
        elif least is not None and least > MOST:
            wrong[name] = [Complaint(f"must be less than or equal to {MOST}")]
    if wrong:
        raise Invalid(fields=wrong)


async def remove(work: Work, me: AccountId) -> None:
    await store.remove(work.db, me)
