"""Grouped notifications on the wire, put together from what is kept of accounts and statuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from kith.base.caches import ByVersion
from kith.base.work import Work
from kith.social.accounts.entities import is_kept, render_versions
from kith.social.ids import AccountId, StatusId
from kith.social.notifications import groups, reading
from kith.social.notifications.entities import CONTEXT, Fallback, fallback_of, moment_of
from kith.social.notifications.groups import SAMPLES, UNGROUPED, GroupHead, GroupRows, LongGroup, read_heads
from kith.social.notifications.reading import NotificationText
from kith.social.notifications.subjects import KEYS, is_hollow, render_all
from kith.social.pages import fitting, ids_of, joined
from kith.social.statuses.entities import Shown, View, find_lines, render_rows, seen, view_of
from kith.social.statuses.store import Stretch

MOST_BYTES = 16 << 20
_encode = msgspec.json.Encoder().encode


class GroupEntity(msgspec.Struct, kw_only=True):
    """NotificationGroup. What tells of a page is there in lists."""

    group_key: str
    notifications_count: int
    type: str
    most_recent_notification_id: int
    page_min_id: str | UnsetType = UNSET
    page_max_id: str | UnsetType = UNSET
    latest_page_notification_at: str | UnsetType = UNSET
    fallback: Fallback | UnsetType = UNSET
    sample_account_ids: list[str]
    status_id: str | UnsetType = UNSET
    report: Any = UNSET
    moderation_warning: Any = UNSET
    event: Any = UNSET
    collection: Any = UNSET
    annual_report: Any = UNSET


class PartialAccount(msgspec.Struct):
    """PartialAccountWithAvatar."""

    id: str
    acct: str
    locked: bool
    bot: bool
    url: str
    avatar: str
    avatar_static: str
    avatar_description: str | None = None


_partial = msgspec.json.Decoder(PartialAccount).decode


class ShownGroup(NamedTuple):
    json: bytes
    status_id: StatusId | None


class ReadyGroups(msgspec.Struct, frozen=True, gc=False):
    """A page but for what its reader has to do with the statuses."""

    ids: tuple[int, ...]
    accounts: bytes  # the beginning of the answer, up to the statuses
    groups: tuple[ShownGroup, ...]
    end: bytes  # all groups, if no status is left out
    statuses: dict[StatusId, Shown]
    stretch: Stretch | None


class GroupPages(ByVersion[ReadyGroups]):
    """Pages by their rows, which tell the version of everything in them."""

    def __init__(self) -> None:
        super().__init__("notification_group_pages", MOST_BYTES)


async def render_page(
    work: Work, rows: GroupRows | None, me: AccountId, *, partial: bool, supported: Sequence[str], is_ascending: bool
) -> tuple[bytes, Sequence[int]]:
    """GroupedNotificationsResults, and the ids of all heads, newest first. One that would be too long ends before."""
    if rows is None:
        return (await render(work, GroupRows("[]", (), ()), [], me, partial=partial))[0], ()
    key = (rows, partial)
    ready = None if supported else work.find(GroupPages).get(key)
    if ready is None:
        heads = read_heads(rows.heads)
        if is_ascending:
            heads.reverse()
        is_kept_whole = not supported and all(head.about_id is None for head in heads)
        ready = (
            await _ready(work, rows, heads, me, partial=partial, from_the_end=is_ascending) if is_kept_whole else None
        )
        if ready is None:
            return await render(work, rows, heads, me, partial=partial, supported=supported, from_the_end=is_ascending)
        if not work.db.is_writing:
            work.find(GroupPages).put(key, ready, _size(rows, ready))
    return await _finish(work, ready, me), ready.ids


def _size(rows: GroupRows, ready: ReadyGroups) -> int:
    groups = sum(2 * len(one.json) + 50 for one in ready.groups)
    return (
        len(rows.heads)
        + 100 * len(rows.senders)
        + len(ready.accounts)
        + groups
        + sum(one.size for one in ready.statuses.values())
    )


async def _finish(work: Work, ready: ReadyGroups, me: AccountId) -> bytes:
    """All pieces are copied once, unless a filter leaves any out."""
    view = View(me) if ready.stretch is None else await view_of(work, ready.stretch, me, context=CONTEXT)
    if view.hidden:
        there = {id: one for id, one in ready.statuses.items() if not view.hides(one)}
        shown = {id: b"%b%b}" % (seen(one, view), one.account) for id, one in there.items()}
        return _whole(ready.accounts, ready.groups, shown)
    parts, between = [ready.accounts, b',"statuses":['], b""
    for one in ready.statuses.values():
        parts += (between, seen(one, view) if view.marked else one.json.usual, one.account)
        between = b"},"
    parts += (b"}" if ready.statuses else b"", b"]", ready.end)
    return b"".join(parts)


def _whole(accounts: bytes, made: Iterable[ShownGroup], statuses: Mapping[StatusId, bytes]) -> bytes:
    """Groups about what is not shown are left out."""
    there = [one.json for one in made if one.status_id is None or one.status_id in statuses]
    return b"".join((accounts, b',"statuses":', joined(list(statuses.values())), _end(there)))


def _end(groups: Sequence[bytes]) -> bytes:
    return b',"notification_groups":%b}' % joined(groups)


async def _ready(
    work: Work, rows: GroupRows, heads: Sequence[GroupHead], me: AccountId, *, partial: bool, from_the_end: bool
) -> ReadyGroups | None:
    """If all that it is made of is kept, or can be."""
    shown = [head for head in heads if head.is_shown]
    parts = await _parts(work, rows, shown)
    about = {row.id: row for head in shown if (row := head.status) is not None}
    lines = await find_lines(work, list(about.values()), me)
    if len(lines) < len(about) or not all(is_kept(work, id, version) for id, version in parts.versions.items()):
        return None
    lengths = {id: len(one.json.usual) + len(one.account) for id, one in lines.items()}
    cut = _cut([head.id for head in heads], shown, parts, lengths, partial=partial, from_the_end=from_the_end)
    kept = {head.status_id for head in cut.heads}
    lines = {id: one for id, one in lines.items() if id in kept}
    stretch = [(one.subject_id, one.subject_version, one.conversation_id) for one in lines.values()]
    made = tuple(_groups(cut.heads, cut.parts))
    return ReadyGroups(
        tuple(cut.ids),
        _accounts(cut.parts, partial=partial),
        made,
        _end([one.json for one in made]),
        lines,
        Stretch.of(stretch) if stretch else None,
    )


async def render(
    work: Work, rows: GroupRows, heads: Sequence[GroupHead], me: AccountId, *, partial: bool = False,
    supported: Sequence[str] = (), in_page: bool = True, from_the_end: bool = False,
) -> tuple[bytes, Sequence[int]]:  # fmt: skip
    """The same without anything kept of the page: with reports and warnings, or with types told in a sentence."""
    shown = [head for head in heads if head.is_shown]
    parts = await _parts(work, rows, shown)
    about = {row.id: row for head in shown if (row := head.status) is not None}
    statuses = await render_rows(work, list(about.values()), me, context=CONTEXT)
    subjects = await render_all(
        work, [(parts.words[head.id].type, head.about_id) for head in shown if head.id in parts.words], me
    )
    if any(_is_hollow(head, parts, subjects) for head in shown):
        shown = [head for head in shown if not _is_hollow(head, parts, subjects)]
        parts = await _parts(work, rows, shown)
    lengths = {id: len(one) for id, one in statuses.items()}
    cut = _cut([head.id for head in heads], shown, parts, lengths, partial=partial, from_the_end=from_the_end)
    made = _groups(cut.heads, cut.parts, subjects, supported=supported, in_page=in_page)
    kept = {head.status_id for head in cut.heads}
    statuses = {id: one for id, one in statuses.items() if id in kept}
    return _whole(_accounts(cut.parts, partial=partial), made, statuses), cut.ids


def _is_hollow(head: GroupHead, parts: _Parts, subjects: Mapping[tuple[str, int], bytes]) -> bool:
    type = parts.words[head.id].type if head.id in parts.words else ""
    return is_hollow(type, None if head.about_id is None else subjects.get((type, head.about_id)))


async def render_one(work: Work, key: str, me: AccountId, *, supported: Sequence[str]) -> bytes | None:
    """One group; None where there is none, or its reader may not see any more what it is about."""
    rows = await groups.find(work, me, key)
    heads = [] if rows is None else read_heads(rows.heads)
    if rows is None or not heads[0].is_shown:
        return None
    return (await render(work, rows, heads, me, supported=supported, in_page=False))[0]


# Pieces


class _Members(NamedTuple):
    """Of one group."""

    samples: list[AccountId]  # who sent the newest of it, newest first
    total: int
    least: int  # the oldest of it within the page


class _Parts(NamedTuple):
    words: dict[int, NotificationText]
    members: dict[int, _Members]  # by head
    versions: dict[AccountId, int]
    people: dict[AccountId, bytes]


class _Cut(NamedTuple):
    """What a page has room for, and the ids of all heads up to the last of it."""

    heads: Sequence[GroupHead]
    parts: _Parts
    ids: Sequence[int]


def _cut(
    ids: Sequence[int], heads: Sequence[GroupHead], parts: _Parts, statuses: Mapping[StatusId, int], *,
    partial: bool, from_the_end: bool,
) -> _Cut:  # fmt: skip
    """Of an account or a status that several groups name there is one copy: it counts where it is named first."""
    counted: set[int] = set()
    lengths: list[int] = []
    for head in reversed(heads) if from_the_end else heads:
        samples = parts.members[head.id].samples[: 1 if partial else None]
        new: dict[int, int] = {id: len(parts.people.get(id, b"")) for id in samples}
        if head.status_id is not None:
            new[head.status_id] = statuses.get(head.status_id, 0)
        lengths.append(sum(length for id, length in new.items() if id not in counted))
        counted |= new.keys()
    part = fitting(lengths[::-1] if from_the_end else lengths, from_the_end=from_the_end)
    if part is None:
        return _Cut(heads, parts, ids)
    left = heads[part]
    members = {head.id: parts.members[head.id] for head in left}
    return _Cut(
        left, parts._replace(members=members), ids_of(ids, [head.id for head in left], from_the_end=from_the_end)
    )


async def _parts(work: Work, rows: GroupRows, heads: Sequence[GroupHead]) -> _Parts:
    there, long = dict(rows.senders), {one.group_key: one for one in rows.long}
    low = min((head.id for head in heads), default=0)
    members = {head.id: _members(head, there, long.get(head.group_key or ""), low) for head in heads}
    versions = {id: there[id] for some in members.values() for id in some.samples if id in there}
    words = await reading.words_of(work.db, [head.id for head in heads]) if heads else {}
    return _Parts(words, members, versions, await render_versions(work, versions))


def _members(head: GroupHead, there: Mapping[AccountId, int], long: LongGroup | None, low: int) -> _Members:
    """Without those who are gone; of a long group all are counted that were not looked at."""
    looked_at = head.samples
    some = [one for one in looked_at if one[1] in there]
    least = min((id for id, _ in some if id >= low), default=head.id)
    senders = [sender for _, sender in some[:SAMPLES]] or [head.from_id]
    if long is None:
        return _Members(senders, len(some) or 1, least)
    return _Members(senders, long.total - len(looked_at) + len(some), long.least or least)


def _accounts(parts: _Parts, *, partial: bool) -> bytes:
    """Of each group all, or the newest in full and the others in part."""
    people = parts.people
    everybody = dict.fromkeys(id for some in parts.members.values() for id in some.samples if id in people)
    if not partial:
        return b'{"accounts":' + joined([people[id] for id in everybody])
    full = dict.fromkeys(some.samples[0] for some in parts.members.values() if some.samples[0] in people)
    rest = [_encode(_partial(people[id])) for id in everybody if id not in full]
    return b'{"accounts":%b,"partial_accounts":%b' % (joined([people[id] for id in full]), joined(rest))


def _groups(
    heads: Sequence[GroupHead], parts: _Parts, subjects: Mapping[tuple[str, int], bytes] | None = None, *,
    supported: Sequence[str] = (), in_page: bool = True,
) -> list[ShownGroup]:  # fmt: skip
    """Without what has just left the database."""
    return [
        ShownGroup(_encode(_group(head, parts, subjects or {}, supported, in_page=in_page)), head.status_id)
        for head in heads
        if head.id in parts.words and head.from_id in parts.people
    ]


def _group(
    head: GroupHead, parts: _Parts, subjects: Mapping[tuple[str, int], bytes], supported: Sequence[str], *,
    in_page: bool,
) -> GroupEntity:  # fmt: skip
    words, members = parts.words[head.id], parts.members[head.id]
    group = GroupEntity(
        group_key=head.group_key or f"{UNGROUPED}{head.id}",
        notifications_count=members.total,
        type=words.type,
        most_recent_notification_id=head.id,
        sample_account_ids=[str(id) for id in members.samples],
        status_id=UNSET if head.status_id is None else str(head.status_id),
    )
    if in_page:
        group.page_min_id = str(members.least)
        group.page_max_id = str(head.id)
        group.latest_page_notification_at = moment_of(words.created_at)
    if supported and words.type not in supported:
        group.fallback = fallback_of(words.type, parts.people[head.from_id])
    if words.type == "annual_report":
        group.annual_report = {"year": str(head.about_id)}
    subject = None if head.about_id is None else subjects.get((words.type, head.about_id))
    if subject is not None:
        setattr(group, KEYS[words.type], msgspec.Raw(subject))
    return group
