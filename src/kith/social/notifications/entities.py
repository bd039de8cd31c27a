"""Notifications on the wire: accounts and statuses as everywhere else, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

from kith.base.work import Work
from kith.social.accounts.entities import render_lines
from kith.social.accounts.lines import WIDTH
from kith.social.ids import AccountId
from kith.social.moments import moment
from kith.social.notifications.subjects import KEYS, render_all
from kith.social.statuses import entities as statuses

_encode = msgspec.json.Encoder().encode
Row = Sequence[Any]

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
    "admin.sign_up": "{} signed up",
    "admin.report": "{} reported somebody",
    "moderation_warning": "The team has sent you a warning",
    "severed_relationships": "You have lost followers or people you follow",
}


class _Named(msgspec.Struct):
    display_name: str
    username: str


_named = msgspec.json.Decoder(_Named)


async def render(work: Work, rows: Sequence[Row], me: AccountId, *, supported: Sequence[str] = ()) -> list[bytes]:
    """In the order they came; one whose status the viewer may not see any more is left out.

    With `supported` types, all others are told in a sentence as well.
    """
    people = await render_lines(work, rows)
    about = [row[WIDTH + 2] for row in rows if row[WIDTH + 2] is not None]
    shown = await statuses.render_by_id(work, about, me)
    subjects = await render_all(work, [(row[WIDTH + 1], row[WIDTH + 6]) for row in rows])
    return [
        _whole(row, person, shown.get(row[WIDTH + 2]), subjects.get((row[WIDTH + 1], row[WIDTH + 6])), supported)
        for row, person in zip(rows, people, strict=True)
        if row[WIDTH + 2] is None or row[WIDTH + 2] in shown
    ]


def _whole(row: Row, person: bytes, status: bytes | None, subject: bytes | None, supported: Sequence[str]) -> bytes:
    id, type, _, group_key, filtered, created_at, _ = row[WIDTH:]
    told: dict[str, Any] = {"id": str(id), "type": type, "group_key": group_key, "created_at": _moment(created_at)}
    if filtered:
        told["filtered"] = True
    if supported and type not in supported:
        told["fallback"] = _fallback(type, person)
    about = b"" if status is None else b',"status":%b' % status
    if subject is not None:
        about += b',"%b":%b' % (KEYS[type].encode(), subject)
    return b'%b,"account":%b%b}' % (_encode(told)[:-1], person, about)


def _fallback(type: str, person: bytes) -> dict[str, str | None]:
    named = _named.decode(person)
    name = f"<b>{escape(named.display_name or named.username)}</b>"
    return {"title": _SAYS.get(type, "{}").format(name), "summary": None, "details": None, "description": None}


def _moment(at: Any) -> str:
    """A row for the wire has it as its database does."""
    return f"{at[:23]}Z" if isinstance(at, str) else moment(at)
