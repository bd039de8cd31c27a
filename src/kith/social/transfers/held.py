"""What somebody has of each kind, page by page along its records: for files that they take along or bring."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

import msgspec

from kith.base.breath import Breath
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.lists import store as lists
from kith.social.relationships.store import whole
from kith.social.transfers import store

__all__ = ["HeldRecord", "RecordPlace", "every", "page"]

PAGE = 1_000


class RecordPlace(msgspec.Struct, frozen=True):
    """How far one has come: behind a record, and on which list."""

    of: int = 0
    after: int = 0


class HeldRecord(NamedTuple):
    """`name` is what rows of files call it, `what` what is taken away, `line` what a file says of it."""

    place: RecordPlace
    name: str
    what: Any
    line: Sequence[str]


async def page(work: Work, me: AccountId, kind: str, place: RecordPlace) -> tuple[list[HeldRecord], RecordPlace | None]:
    """What comes behind a place, and where the next page begins; None behind the last one."""
    if kind == "lists":
        return await _on_lists(work, me, place)
    found = await _records(work, me, kind, place.after)
    return found, found[-1].place if len(found) == PAGE else None


async def every(work: Work, me: AccountId, kind: str, most: int) -> AsyncIterator[HeldRecord]:
    """Up to `most` of them, with others served in between."""
    place: RecordPlace | None = RecordPlace()
    breath = Breath()
    while place is not None and most > 0:
        found, place = await page(work, me, kind, place)
        for one in found[:most]:
            yield one
        most -= len(found)
        await breath.take()


async def _records(work: Work, me: AccountId, kind: str, after: int) -> list[HeldRecord]:
    if kind == "domain_blocking":
        blocked = await whole.domain_blocks_after(work.db, me, after, PAGE)
        return [HeldRecord(RecordPlace(after=id), domain, domain, [domain]) for id, domain in blocked]
    if kind == "bookmarks":
        marked = await store.bookmarked_after(work.db, me, after, PAGE)
        return [HeldRecord(RecordPlace(after=id), uri, status_id, [uri]) for id, status_id, uri in marked]
    if kind == "muting":
        mutes = await whole.mutes_after(work.db, me, work.now, after, PAGE)
        return [_person(work, one, [_said(one.hide_notifications)]) for one in mutes]
    if kind == "blocking":
        return [_person(work, one, []) for one in await whole.blocks_after(work.db, me, after, PAGE)]
    follows = await whole.follows_after(work.db, me, after, PAGE)
    return [
        _person(work, one, [_said(one.reblogs), _said(one.notify), ", ".join(one.languages or ())]) for one in follows
    ]


def _person(work: Work, one: whole.NamedFollow | whole.NamedMute | whole.NamedBlock, more: list[str]) -> HeldRecord:
    acct = _acct(work, one.username, one.domain)
    return HeldRecord(RecordPlace(after=one.record), f"{one.username.lower()}@{one.domain}", one.id, [acct, *more])


async def _on_lists(work: Work, me: AccountId, place: RecordPlace) -> tuple[list[HeldRecord], RecordPlace | None]:
    """One list after the other, and its members along their own ids."""
    left = [one for one in await lists.all_of(work.db, me) if one.id >= place.of]
    if not left:
        return [], None
    first, following = left[0], left[1:]
    after = place.after if first.id == place.of else 0
    found = [
        HeldRecord(
            RecordPlace(first.id, id),
            f"{first.title}\n{username.lower()}@{domain}",
            (first.id, id),
            [first.title, _acct(work, username, domain)],
        )
        for id, username, domain in await store.members_after(work.db, first.id, after, PAGE)
    ]
    if len(found) == PAGE:
        return found, found[-1].place
    return found, RecordPlace(following[0].id) if following else None


def _acct(work: Work, username: str, domain: str) -> str:
    """With our own domain for those who live here: the file is read elsewhere."""
    return f"{username}@{domain or work.settings.domain}"


def _said(value: bool) -> str:
    return "true" if value else "false"
