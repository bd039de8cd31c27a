"""Notifications on the wire, put together from what is kept of them, of accounts and of statuses.

A page is kept by its rows. What the reader has to do with the statuses they are about is put in between each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from kith.base.caches import ByVersion
from kith.base.json_templates import Template, gap
from kith.base.work import Work
from kith.social.accounts.entities import is_kept, render_versions
from kith.social.ids import AccountId
from kith.social.moments import moment
from kith.social.notifications import reading
from kith.social.notifications.reading import NotificationRow, NotificationText
from kith.social.notifications.subjects import KEYS, is_hollow, render_all
from kith.social.notifications.titles import titled
from kith.social.pages import fitting, ids_of, joined
from kith.social.statuses.entities import Shown, View, find_lines, render_rows, seen, view_of
from kith.social.statuses.store import Stretch

MOST_BYTES = 8 << 20
MOST_BYTES_OF_PAGES = 16 << 20
CONTEXT = "notifications"  # of filters
_STATUS = b',"status":'
_encode = msgspec.json.Encoder().encode
_rows = msgspec.json.Decoder(list[NotificationRow])


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
    report: Any = UNSET
    moderation_warning: Any = UNSET
    event: Any = UNSET
    annual_report: Any = UNSET
    collection: Any = UNSET


class Fallback(msgspec.Struct):
    title: str
    summary: str | None = None
    details: str | None = None
    description: str | None = None


class _Named(msgspec.Struct):
    display_name: str
    username: str


_named = msgspec.json.Decoder(_Named)


class NotificationHeads(ByVersion[bytes]):
    """What notifications themselves say, up to the account they are from. It never changes."""

    def __init__(self) -> None:
        super().__init__("notification_heads", MOST_BYTES)


class NotificationLine(NamedTuple):
    """A notification in its pieces: the account and the status are the same ones that are kept elsewhere."""

    id: int
    head: bytes
    account: bytes
    status: Shown | None


class NotificationPage(msgspec.Struct, frozen=True, gc=False):
    ids: tuple[int, ...]
    lines: tuple[NotificationLine, ...]
    stretch: Stretch | None  # of the statuses they are about


class NotificationPages(ByVersion[NotificationPage]):
    """Pages by their rows, which tell the version of everything in them."""

    def __init__(self) -> None:
        super().__init__("notification_pages", MOST_BYTES_OF_PAGES)


async def render_page(
    work: Work, rows: str | None, me: AccountId, *, supported: Sequence[str] = (), is_ascending: bool = False
) -> tuple[bytes, Sequence[int]]:
    """A JSON array, newest first, and the ids of all rows, also of what could not be shown.

    One that would be too long ends before.
    """
    if not rows:
        return b"[]", ()
    page = None if supported else work.find(NotificationPages).get(rows)
    if page is None:
        read = _rows.decode(rows)
        if is_ascending:
            read.reverse()
        page = None if supported else await _page(work, read, me)
        if page is None:
            found = await _render(work, read, me, supported=supported)
            return _fitting([row.id for row in read], found, from_the_end=is_ascending)
        if not work.db.is_writing:
            work.find(NotificationPages).put(rows, page, _size(rows, page))
    view = View(me) if page.stretch is None else await view_of(work, page.stretch, me, context=CONTEXT)
    lines, ids = page.lines, page.ids
    part = fitting([_length(line) for line in lines], from_the_end=is_ascending)
    if part is not None:
        lines = lines[part]
        ids = tuple(ids_of(ids, [line.id for line in lines], from_the_end=is_ascending))
    return _joined(lines, view), ids


def _length(line: NotificationLine) -> int:
    about = 0 if line.status is None else len(line.status.json.usual) + len(line.status.account)
    return len(line.head) + len(line.account) + about


def _fitting(ids: list[int], found: dict[int, bytes], *, from_the_end: bool) -> tuple[bytes, Sequence[int]]:
    shown = list(found.values())
    part = fitting([len(one) for one in shown], from_the_end=from_the_end)
    if part is None:
        return joined(shown), ids
    return joined(shown[part]), ids_of(ids, list(found)[part], from_the_end=from_the_end)


def _joined(lines: Sequence[NotificationLine], view: View) -> bytes:
    """All pieces of a page are copied once. What a filter hides is left out."""
    if view.hidden:
        lines = [line for line in lines if line.status is None or not view.hides(line.status)]
    if not lines:
        return b"[]"
    parts = [b"["]
    for _, head, account, status in lines:
        if status is None:
            parts += (head, account, b"},")
        else:
            about = seen(status, view) if view.marked else status.json.usual
            parts += (head, account, _STATUS, about, status.account, b"}},")
    parts[-1] = parts[-1][:-1] + b"]"
    return b"".join(parts)


def _size(rows: str, page: NotificationPage) -> int:
    return len(rows) + sum(len(line.head) + (line.status.size if line.status else 0) + 100 for line in page.lines)


async def _page(work: Work, rows: Sequence[NotificationRow], me: AccountId) -> NotificationPage | None:
    """If all that it is made of is kept, or can be: not reports and warnings, which have no version."""
    shown = [row for row in rows if row.is_shown]
    if any(row.about_id is not None for row in shown):
        return None
    about = [row_of for row in shown if (row_of := row.status) is not None]
    heads = await _heads(work, shown)
    people = await render_versions(work, {row.from_id: row.from_version for row in shown})
    statuses = await find_lines(work, about, me)
    lines: list[NotificationLine] = []
    for row in shown:
        status = None if row.status_id is None else statuses.get(row.status_id)
        if row.id not in heads or not is_kept(work, row.from_id, row.from_version):
            return None
        if row.status_id is not None and status is None:
            return None
        lines.append(NotificationLine(row.id, heads[row.id], people[row.from_id], status))
    about_these = [
        (one.subject_id, one.subject_version, one.conversation_id) for line in lines if (one := line.status) is not None
    ]
    stretch = Stretch.of(about_these) if about_these else None
    return NotificationPage(tuple(row.id for row in rows), tuple(lines), stretch)


async def _heads(work: Work, rows: Sequence[NotificationRow]) -> dict[int, bytes]:
    kept = work.find(NotificationHeads)
    found = {row.id: head for row in rows if (head := kept.get((row.id, row.filtered))) is not None}
    missing = {row.id: row for row in rows if row.id not in found}
    if missing:
        for id, words in (await reading.words_of(work.db, list(missing))).items():
            entity = _entity(missing[id], words, account=gap("account"))
            found[id] = head = Template.of(entity).up_to("account").whole()
            if not work.db.is_writing:
                kept.put((id, missing[id].filtered), head, len(head))
    return found


async def render(
    work: Work, rows: Sequence[NotificationRow], me: AccountId, *, supported: Sequence[str] = ()
) -> list[bytes]:
    """In the order they came; one whose status the reader may not see any more is left out.

    With `supported` types, all others are told in a sentence as well.
    """
    return list((await _render(work, rows, me, supported=supported)).values())


async def _render(
    work: Work, rows: Sequence[NotificationRow], me: AccountId, *, supported: Sequence[str]
) -> dict[int, bytes]:
    """Notifications as JSON by their ids."""
    rows = [row for row in rows if row.is_shown]
    people = await render_versions(work, {row.from_id: row.from_version for row in rows})
    about = {status.id: status for row in rows if (status := row.status) is not None}
    shown = await render_rows(work, list(about.values()), me, context=CONTEXT)
    words = await reading.words_of(work.db, [row.id for row in rows])
    subjects = await render_all(work, [(words[row.id].type, row.about_id) for row in rows if row.id in words], me)
    wholes: dict[int, bytes] = {}
    for row in rows:
        if row.id not in words or row.from_id not in people or not (row.status_id is None or row.status_id in shown):
            continue  # it has just left the database
        person, type = people[row.from_id], words[row.id].type
        subject = None if row.about_id is None else subjects.get((type, row.about_id))
        if is_hollow(type, subject):
            continue
        entity = _entity(row, words[row.id], account=msgspec.Raw(person))
        if row.status_id is not None:
            entity.status = msgspec.Raw(shown[row.status_id])
        if type == "annual_report":
            entity.annual_report = {"year": str(row.about_id)}
        if subject is not None:
            setattr(entity, KEYS[type], msgspec.Raw(subject))
        if supported and type not in supported:
            entity.fallback = fallback_of(type, person)
        wholes[row.id] = _encode(entity)
    return wholes


def _entity(row: NotificationRow, words: NotificationText, *, account: Any) -> NotificationEntity:
    return NotificationEntity(
        id=str(row.id),
        type=words.type,
        group_key=words.group_key,
        created_at=moment_of(words.created_at),
        filtered=bool(row.filtered) or UNSET,
        account=account,
    )


def fallback_of(type: str, person: bytes) -> Fallback:
    """For programs that do not know a type: what it tells, in a sentence."""
    named = _named.decode(person)
    name = f"<b>{escape(named.display_name or named.username)}</b>"
    return Fallback(titled(type, name))


def moment_of(at: datetime | str) -> str:
    """A row for the wire has it as its database does."""
    return f"{at[:23]}Z" if isinstance(at, str) else moment(at)
