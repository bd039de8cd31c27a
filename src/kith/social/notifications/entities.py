"""Notifications on the wire: accounts and statuses as everywhere else, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kith.base.work import Work
from kith.social.accounts.entities import render_versions
from kith.social.ids import AccountId
from kith.social.moments import moment
from kith.social.notifications.store import NotificationRow
from kith.social.statuses import entities as statuses

_encode = msgspec.json.Encoder().encode

# For programs that do not know a type: what it tells, in a sentence.
_SAYS = {
    "mention": "{} mentioned you",
    "status": "{} posted",
    "reblog": "{} boosted your post",
    "follow": "{} followed you",
    "follow_request": "{} asked to follow you",
    "favourite": "{} favourited your post",
    "poll": "A poll by {} has ended",
    "update": "{} edited a post you boosted",
    "quote": "{} quoted your post",
    "quoted_update": "{} edited a post you quoted",
}


class NotificationEntity(msgspec.Struct, kw_only=True):
    """Notification. `status` is there for types that are about one, `filtered` only where it is so."""

    id: str
    type: str
    group_key: str
    created_at: str
    filtered: bool | UnsetType = UNSET
    fallback: Fallback | UnsetType = UNSET
    account: Any
    status: Any = UNSET


class Fallback(msgspec.Struct):
    title: str
    summary: str | None = None
    details: str | None = None
    description: str | None = None


class _Named(msgspec.Struct):
    display_name: str
    username: str


_named = msgspec.json.Decoder(_Named)


async def render(
    work: Work, rows: Sequence[NotificationRow], me: AccountId, *, supported: Sequence[str] = ()
) -> list[bytes]:
    """In the order they came; one whose status the viewer may not see any more is left out.

    With `supported` types, all others are told in a sentence as well.
    """
    people = await render_versions(work, {row.from_id: row.from_version for row in rows})
    about = [row.status_id for row in rows if row.status_id is not None]
    shown = await statuses.render_by_id(work, about, me)
    return [
        _whole(row, people[row.from_id], None if row.status_id is None else shown[row.status_id], supported)
        for row in rows
        if row.status_id is None or row.status_id in shown
    ]


def _whole(row: NotificationRow, person: bytes, status: bytes | None, supported: Sequence[str]) -> bytes:
    return _encode(
        NotificationEntity(
            id=str(row.id),
            type=row.type,
            group_key=row.group_key,
            created_at=_moment(row.created_at),
            filtered=row.filtered or UNSET,
            fallback=_fallback(row.type, person) if supported and row.type not in supported else UNSET,
            account=msgspec.Raw(person),
            status=UNSET if status is None else msgspec.Raw(status),
        )
    )


def _fallback(type: str, person: bytes) -> Fallback:
    named = _named.decode(person)
    name = f"<b>{escape(named.display_name or named.username)}</b>"
    return Fallback(_SAYS.get(type, "{}").format(name))


def _moment(at: datetime | str) -> str:
    """A row for the wire has it as its database does."""
    return f"{at[:23]}Z" if isinstance(at, str) else moment(at)
