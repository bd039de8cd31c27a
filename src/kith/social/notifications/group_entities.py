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
from kith.social.notifications.groups import UNGROUPED, GroupHead, GroupMember, GroupPage
from kith.social.notifications.reading import NotificationText
from kith.social.notifications.subjects import KEYS, render_all
from kith.social.pages import joined
from kith.social.statuses.entities import Shown, View, find_lines, render_rows, seen, view_of
from kith.social.statuses.store import Stretch

MOST_BYTES = 16 << 20
_encode = msgspec.json.Encoder().encode
_read_heads = msgspec.json.Decoder(list[GroupHead]).decode
_read_members = msgspec.json.Decoder(list[GroupMember]).decode


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
    statuses: dict[StatusId, Shown]
    stretch: Stretch | None


class GroupPages(ByVersion[ReadyGroups]):
    """Pages by their rows, which tell the version of everything in them."""

    def __init__(self) -> None:
        super().__init__("notification_group_pages", MOST_BYTES)


async def render_page(
    work: Work, page: GroupPage, me: AccountId, *, partial: bool, supported: Sequence[str], is_ascending: bool
) -> tuple[bytes, Sequence[int]]:
    """GroupedNotificationsResults, and the ids of all heads, newest first."""
    key = (page, partial)
    ready = None if supported else work.find(GroupPages).get(key)
    if ready is None:
        heads = _read_heads(page.heads) if page.heads else []
        if is_ascending:
            heads.reverse()
        members = _read_members(page.members) if page.members else []
        if supported or any(head.about_id is not None for head in heads):
            return await render(work, heads, members, me, partial=partial, supported=supported), [
                head.id for head in heads
            ]
        ready = await _ready(work, heads, members, me, partial=partial)
        if ready is None:
            return await render(work, heads, members, me, partial=partial), [head.id for head in heads]
        if not work.db.is_writing:
            work.find(GroupPages).put(key, ready, _size(page, ready))
    return await _finish(work, ready, me), ready.ids


def _size(page: GroupPage, ready: ReadyGroups) -> int:
    rows = len(page.heads or "") + len(page.members or "") + len(ready.accounts)
    return rows + sum(len(one.json) + 50 for one in ready.groups) + sum(one.size for one in ready.statuses.values())


async def _finish(work: Work, ready: ReadyGroups, me: AccountId) -> bytes:
    view = View(me) if ready.stretch is None else await view_of(work, ready.stretch, me, context=CONTEXT)
    shown = {
        id: b"%b%b}" % (seen(one, view) if view.marked else one.json.usual, one.account)
        for id, one in ready.statuses.items()
        if not (view.hidden and view.hides(one))
    }
    return _whole(ready.accounts, ready.groups, shown)


def _whole(accounts: bytes, made: Iterable[ShownGroup], statuses: Mapping[StatusId, bytes]) -> bytes:
    """Groups about what is not shown are left out."""
    there = [one.json for one in made if one.status_id is None or one.status_id in statuses]
    return b"".join(
        (accounts, b',"statuses":', joined(list(statuses.values())), b',"notification_groups":', joined(there), b"}")
    )


async def _ready(
    work: Work, heads: Sequence[GroupHead], members: Sequence[GroupMember], me: AccountId, *, partial: bool
) -> ReadyGroups | None:
    """If all that it is made of is kept, or can be."""
    shown = [head for head in heads if head.is_shown]
    parts = await _parts(work, shown, members)
    about = {row.id: row for head in shown if (row := head.status) is not None}
    lines = await find_lines(work, list(about.values()), me)
    if len(lines) < len(about) or not all(is_kept(work, id, version) for id, version in parts.versions.items()):
        return None
    stretch = [(one.subject_id, one.subject_version, one.conversation_id) for one in lines.values()]
    return ReadyGroups(
        tuple(head.id for head in heads),
        _accounts(parts, partial=partial),
        tuple(_groups(shown, parts)),
        lines,
        Stretch.of(stretch) if stretch else None,
    )


async def render(
    work: Work, heads: Sequence[GroupHead], members: Sequence[GroupMember], me: AccountId, *, partial: bool = False,
    supported: Sequence[str] = (), in_page: bool = True,
) -> bytes:  # fmt: skip
    """The same without anything kept of the page: with reports and warnings, or with types told in a sentence."""
    shown = [head for head in heads if head.is_shown]
    parts = await _parts(work, shown, members)
    about = {row.id: row for head in shown if (row := head.status) is not None}
    statuses = await render_rows(work, list(about.values()), me, context=CONTEXT)
    subjects = await render_all(
        work, [(parts.words[head.id].type, head.about_id) for head in shown if head.id in parts.words]
    )
    made = _groups(shown, parts, subjects, supported=supported, in_page=in_page)
    return _whole(_accounts(parts, partial=partial), made, statuses)


async def render_one(work: Work, key: str, me: AccountId, *, supported: Sequence[str]) -> bytes | None:
    """One group; None where there is none, or its reader may not see any more what it is about."""
    head, members = await groups.find(work, me, key)
    if head is None or not head.is_shown:
        return None
    read = _read_members(members) if members else []
    return await render(work, [head], read, me, supported=supported, in_page=False)


# Pieces


class _Parts(NamedTuple):
    words: dict[int, NotificationText]
    members: dict[str, list[GroupMember]]
    samples: dict[int, list[AccountId]]  # by head, newest first
    versions: dict[AccountId, int]
    people: dict[AccountId, bytes]


async def _parts(work: Work, heads: Sequence[GroupHead], members: Sequence[GroupMember]) -> _Parts:
    by_key: dict[str, list[GroupMember]] = {}
    for member in members:
        by_key.setdefault(member.group_key, []).append(member)
    versions = {head.from_id: head.from_version for head in heads}
    versions |= {member.from_id: member.from_version for member in members}
    samples = {
        head.id: [one.from_id for one in by_key.get(head.group_key or "", ())] or [head.from_id] for head in heads
    }
    words = await reading.words_of(work.db, [head.id for head in heads]) if heads else {}
    return _Parts(words, by_key, samples, versions, await render_versions(work, versions))


def _accounts(parts: _Parts, *, partial: bool) -> bytes:
    """Of each group all, or the newest in full and the others in part."""
    everybody = dict.fromkeys(id for ids in parts.samples.values() for id in ids if id in parts.people)
    if not partial:
        return b'{"accounts":' + joined([parts.people[id] for id in everybody])
    full = dict.fromkeys(ids[0] for ids in parts.samples.values() if ids[0] in parts.people)
    rest = [_encode(_partial(parts.people[id])) for id in everybody if id not in full]
    return b'{"accounts":%b,"partial_accounts":%b' % (joined([parts.people[id] for id in full]), joined(rest))


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
    words, members = parts.words[head.id], parts.members.get(head.group_key or "", [])
    group = GroupEntity(
        group_key=head.group_key or f"{UNGROUPED}{head.id}",
        notifications_count=members[0].total if members else 1,
        type=words.type,
        most_recent_notification_id=head.id,
        sample_account_ids=[str(id) for id in parts.samples[head.id]],
        status_id=UNSET if head.status_id is None else str(head.status_id),
    )
    if in_page:
        group.page_min_id = str((members[0].least_id if members else None) or head.id)
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
