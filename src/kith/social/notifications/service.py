"""Telling people what concerns them, once, and taking it back when it is undone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import msgspec

from kith.base.errors import NotFound
from kith.base.ids import id_at
from kith.base.work import Work
from kith.social.ids import AccountId, StatusId
from kith.social.notifications import policy, request_store, store
from kith.social.notifications.facts import NotificationMade
from kith.social.notifications.policy import Acquaintance
from kith.social.notifications.tables import Notification

TYPES = (
    "mention", "status", "reblog", "follow", "follow_request", "favourite", "poll", "update",
    "severed_relationships", "moderation_warning", "annual_report", "admin.sign_up", "admin.report", "quote",
    "quoted_update", "added_to_collection", "collection_update",
)  # fmt: skip
GROUPED = frozenset({"favourite", "reblog", "follow", "admin.sign_up"})
GROUP_HOURS = 12


class Notice(msgspec.Struct, frozen=True):
    """What one person would be told; `key` says what it is about, so that it is told once."""

    account_id: AccountId
    key: str
    status_id: StatusId | None = None
    subject_id: int | None = None  # a report, a warning, lost relationships


async def tell(
    work: Work, type: str, from_id: AccountId, notices: Sequence[Notice], *, about_id: StatusId | None = None,
    mention_from: str | None = None, own: bool = False,
) -> None:  # fmt: skip
    """Those of them who want to hear of it. `about_id` is the status whose thread and mentions decide that."""
    wanted = await store.who_is_told(
        work.db, [one.account_id for one in notices], from_id, about_id, work.now, mention_from=mention_from, own=own
    )
    for one in notices:
        if one.account_id not in wanted:
            continue
        choice = await _choice(work, type, from_id, wanted[one.account_id], about_id)
        if choice == policy.FILTER:
            await _hold_back(work, type, from_id, one)
        elif choice == policy.ACCEPT:
            await _put(work, type, from_id, one, await _group_of(work, type, one))


async def _choice(
    work: Work, type: str, from_id: AccountId, known: Acquaintance | None, about_id: StatusId | None
) -> str:
    """What the recipient's policy says. Whether a direct mention was asked for is looked up where that decides."""
    if known is None or type not in policy.FILTERABLE:
        return policy.ACCEPT
    choice = policy.decide(known, work.now, private=False)
    if type != "mention" or about_id is None:
        return choice
    strictest = policy.decide(known, work.now, private=True)
    if strictest == choice or not await policy.is_direct(work.db, about_id):
        return choice
    return choice if await policy.is_invited(work.db, known.recipient_id, from_id, about_id) else strictest


async def _hold_back(work: Work, type: str, from_id: AccountId, notice: Notice) -> None:
    """It is kept apart. Mentions and quotes make a request of whoever they are from."""
    made = await _put(work, type, from_id, notice, None, filtered=True)
    if made and type in policy.REQUESTED:
        await request_store.note(work.db, work.new_id(), notice.account_id, from_id, work.now)


async def tell_anyhow(work: Work, type: str, from_id: AccountId, notices: Sequence[Notice]) -> None:
    """What people hear of whomever they block or mute: the team's business with them, and theirs as the team."""
    for one in notices:
        await _put(work, type, from_id, one, await _group_of(work, type, one))


async def tell_of_favourites(work: Work, pairs: Sequence[tuple[AccountId, StatusId]]) -> None:
    """Of many favourites at once (an account, and what it favours): the authors who want to hear of them."""
    told = await store.told_of_favourites(work.db, pairs, work.now)
    groups: dict[StatusId, str | None] = {}
    for account_id, status_id in pairs:
        known = told.get((account_id, status_id))
        choice = policy.DROP if known is None else policy.decide(known, work.now, private=False)
        if known is None or choice == policy.DROP:
            continue
        notice = Notice(known.recipient_id, favourite_key(status_id, account_id), status_id)
        if choice == policy.FILTER:
            await _hold_back(work, "favourite", account_id, notice)
            continue
        if status_id not in groups:
            groups[status_id] = await _group_of(work, "favourite", notice)
        await _put(work, "favourite", account_id, notice, groups[status_id])


def favourite_key(status_id: StatusId, account_id: AccountId) -> str:
    return f"favourite:{status_id}:{account_id}"


async def _put(
    work: Work, type: str, from_id: AccountId, notice: Notice, group: str | None, *, filtered: bool = False
) -> bool:
    """False where it was told already."""
    id = work.new_id()
    row = Notification(
        id=id, account_id=notice.account_id, from_id=from_id, type=type, status_id=notice.status_id,
        group_key=group or f"ungrouped-{id}", filtered=filtered, created_at=work.now, once_key=notice.key,
        subject_id=notice.subject_id,
    )  # fmt: skip
    made = await store.add(work.db, row)
    if made:
        work.announce(NotificationMade(notification_id=id, account_id=row.account_id, type=type))
    return made


async def _group_of(work: Work, type: str, notice: Notice) -> str | None:
    """Alike things within some hours are one group: it is named after the hour in which it began. None: no group."""
    if type not in GROUPED:
        return None
    hour = int(work.now.timestamp()) // 3600
    since = id_at(work.now - timedelta(hours=GROUP_HOURS + 1))
    last = await store.last_group(work.db, notice.account_id, type, notice.status_id, since)
    if last is not None:
        began = last.rpartition("-")[2]
        if began.isdigit() and hour - int(began) < GROUP_HOURS:
            return last
    about = f"{type}-{notice.status_id}" if notice.status_id is not None else type
    return f"{about}-{hour}"


def wanted_types(types: Sequence[str], excluded: Sequence[str]) -> list[str]:
    """Names that nobody knows are as if they were not there."""
    asked = [type for type in types if type in TYPES] if types else TYPES
    return [type for type in asked if type not in excluded]


async def dismiss(work: Work, me: AccountId, id: int) -> None:
    if not await store.dismiss(work.db, me, id):
        raise NotFound


async def clear(work: Work, me: AccountId) -> None:
    """Also what is held back, and with it the requests."""
    await store.clear(work.db, me)
    await request_store.drop_all(work.db, me)
