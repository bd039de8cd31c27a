from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Integer, String, and_, bindparam, case, delete, literal_column, or_, select, union_all, update

from kith.base.db import Command, Instant, Session, add_once, any_of, command, insert_into, query, rows_as_json
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import rules
from kith.social.relationships.follow_source import Following
from kith.social.statuses import access
from kith.social.statuses.lines import A, S
from kith.social.statuses.tables import (
    Edit,
    Scheduled,
    Status,
    bookmarks,
    conversation_mutes,
    edits,
    favourites,
    idempotency,
    mentions,
    pins,
    scheduled,
    statuses,
)
from kith.social.versions import changed, counted

_now = bindparam("now", type_=Instant())
_me = access.ME
_insert = command(insert_into(statuses))
_by_id = query(select(statuses).where(statuses.c.id == bindparam("status")), Status)
_by_ids = query(select(statuses).where(any_of(statuses.c.id, "ids")), Status)
_by_uri = query(select(statuses).where(statuses.c.uri == bindparam("uri")), Status)
_seen = {
    anonymous: query(
        select(S)
        .select_from(S.join(A, A.c.id == S.c.account_id))
        .where(and_(S.c.id == bindparam("status"), access.visible_for(S, A, anonymous=anonymous))),
        Status,
    )
    for anonymous in (False, True)
}
_boost_of = query(
    select(statuses).where(
        and_(
            statuses.c.account_id == _me,
            statuses.c.reblog_of_id == bindparam("status"),
            statuses.c.deleted_at.is_(None),
        )
    ),
    Status,
)


class Flag(NamedTuple):
    """Something that the viewer has to do with a status, a conversation or an author."""

    flag: int
    id: int


FAVOURITED, REBLOGGED, BOOKMARKED, MUTED, PINNED, FOLLOWED = range(6)
_NEAR = 50
_boosts = and_(statuses.c.account_id == _me, statuses.c.deleted_at.is_(None))
_marked: tuple[tuple[int, Any, Any, str], ...] = (
    (FAVOURITED, favourites.c.status_id, favourites.c.account_id == _me, "ids"),
    (REBLOGGED, statuses.c.reblog_of_id, _boosts, "ids"),
    (BOOKMARKED, bookmarks.c.status_id, bookmarks.c.account_id == _me, "ids"),
    (PINNED, pins.c.status_id, pins.c.account_id == _me, "ids"),
    (MUTED, conversation_mutes.c.conversation_id, conversation_mutes.c.account_id == _me, "conversations"),
)


def _flag(flag: int, column: Any, clause: Any) -> Any:
    return select(literal_column(str(flag), Integer).label("flag"), column.label("id")).where(clause)


# The viewer's marks on whatever lies between two ids: a look at each list of them, and most have none there.
_near_rows = union_all(
    *(
        select(
            _flag(flag, column, and_(mine, column.between(bindparam(f"least_{of}"), bindparam(f"most_{of}"))))
            .limit(literal_column(str(_NEAR)))
            .subquery()
        )
        for flag, column, mine, of in _marked
    )
).subquery("page")
_near = query(select(rows_as_json(_near_rows)).select_from(_near_rows), str)
_read_flags = msgspec.json.Decoder(list[Flag]).decode
_mine = Following("mine")
_flags = query(
    union_all(
        *(_flag(flag, column, and_(mine, any_of(column, of))) for flag, column, mine, of in _marked),
        _flag(FOLLOWED, _mine.followed, and_(_mine.follower == _me, any_of(_mine.followed, "authors"))),
    ),
    Flag,
)


def _word(word: str) -> Any:
    return literal_column(f"'{word}'", String)


# What stands between the viewer and something that is quoted.
_gone: tuple[Any, Any] = (S.c.deleted_at.is_not(None), _word("deleted"))
_in_the_way: tuple[tuple[Any, Any], ...] = (
    (rules.blocks_domain(_me, A.c.domain), _word("blocked_domain")),
    (rules.blocks(_me, S.c.account_id), _word("blocked_account")),
    (rules.mutes(_me, S.c.account_id), _word("muted_account")),
)
_standing = {
    anonymous: query(
        select(S.c.id, case(_gone, *(() if anonymous else _in_the_way), else_=_word("accepted")))
        .select_from(S.join(A, A.c.id == S.c.account_id))
        .where(and_(any_of(S.c.id, "ids"), or_(_gone[0], access.visible_for(S, A, anonymous=anonymous)))),
        tuple,
    )
    for anonymous in (False, True)
}

_mentions_of = query(
    select(
        mentions.c.status_id, mentions.c.account_id, accounts.c.username, accounts.c.domain, accounts.c.url,
        accounts.c.uri,
    )
    .join(accounts, accounts.c.id == mentions.c.account_id)
    .where(and_(any_of(mentions.c.status_id, "ids"), ~mentions.c.silent))
    .order_by(mentions.c.status_id, mentions.c.account_id),
    tuple,
)  # fmt: skip
_mentioned = query(select(mentions.c.account_id).where(mentions.c.status_id == bindparam("status")), AccountId)
_add_mention = command(add_once(mentions))
_silence_mentions = command(
    update(mentions)
    .where(and_(mentions.c.status_id == bindparam("status"), any_of(mentions.c.account_id, "accounts")))
    .values(silent=True)
)
_speak_mentions = command(
    update(mentions)
    .where(and_(mentions.c.status_id == bindparam("status"), any_of(mentions.c.account_id, "accounts")))
    .values(silent=False)
)
_domains = query(
    select(accounts.c.id, accounts.c.domain, accounts.c.sensitized_at).where(any_of(accounts.c.id, "ids")), tuple
)
_count = command(
    update(statuses)
    .where(statuses.c.id == bindparam("status"))
    .values(
        replies_count=statuses.c.replies_count + bindparam("replies"),
        reblogs_count=statuses.c.reblogs_count + bindparam("reblogs"),
        favourites_count=statuses.c.favourites_count + bindparam("favourites"),
        quotes_count=statuses.c.quotes_count + bindparam("quotes"),
        version=counted(statuses),
    )
)
_delete = command(
    update(statuses)
    .where(and_(statuses.c.id == bindparam("status"), statuses.c.deleted_at.is_(None)))
    .values(deleted_at=_now, version=changed(statuses))
)
_insert_edit = command(insert_into(edits))
_edits_of = query(select(edits).where(edits.c.status_id == bindparam("status")).order_by(edits.c.id), Edit)

_marks = {"favourites": favourites, "bookmarks": bookmarks, "pins": pins}
_add_mark = {name: command(add_once(table)) for name, table in _marks.items()}
_drop_mark = {
    name: command(delete(table).where(and_(table.c.account_id == _me, table.c.status_id == bindparam("status"))))
    for name, table in _marks.items()
}
_unpin_all = command(delete(pins).where(pins.c.status_id == bindparam("status")))
_count_pins = query(select(pins.c.status_id).where(pins.c.account_id == _me), StatusId)
_add_mute = command(add_once(conversation_mutes))
_drop_mute = command(
    delete(conversation_mutes).where(
        and_(conversation_mutes.c.account_id == _me, conversation_mutes.c.conversation_id == bindparam("conversation"))
    )
)

_insert_scheduled = command(insert_into(scheduled))
_scheduled = query(
    select(scheduled).where(and_(scheduled.c.id == bindparam("id"), scheduled.c.account_id == _me)), Scheduled
)
_idempotent = query(
    select(idempotency.c.status_id, idempotency.c.scheduled_id).where(
        and_(idempotency.c.account_id == _me, idempotency.c.key == bindparam("key"), idempotency.c.created_at > _now)
    ),
    tuple,
)
_remember = command(insert_into(idempotency))
_forget = command(delete(idempotency).where(idempotency.c.created_at <= _now))
_forget_one = command(
    delete(idempotency).where(
        and_(idempotency.c.account_id == _me, idempotency.c.key == bindparam("key"), idempotency.c.created_at <= _now)
    )
)


async def insert(db: Session, status: Status) -> None:
    await db.run(_insert, **msgspec.structs.asdict(status))


async def find(db: Session, status_id: StatusId) -> Status | None:
    """Whoever may see it, and even if it is deleted."""
    return await db.one(_by_id, status=status_id)


async def find_all(db: Session, ids: Sequence[StatusId]) -> dict[StatusId, Status]:
    return {status.id: status for status in await db.all(_by_ids, ids=list(ids))} if ids else {}


async def find_by_uri(db: Session, uri: str) -> Status | None:
    return await db.one(_by_uri, uri=uri)


async def find_visible(db: Session, status_id: StatusId, me: AccountId | None) -> Status | None:
    """The status, if this viewer (None: anybody) may see it."""
    return await db.one(_seen[me is None], status=status_id, me=me)


async def find_boost(db: Session, me: AccountId, status_id: StatusId) -> Status | None:
    return await db.one(_boost_of, me=me, status=status_id)


class Stretch(NamedTuple):
    """Some statuses, each in its version, and their conversations, and between which ids they are."""

    ids: tuple[StatusId, ...]
    versions: tuple[int, ...]
    conversations: tuple[int, ...]
    least_id: int
    most_id: int
    least_conversation: int
    most_conversation: int

    @classmethod
    def of(cls, statuses: Iterable[tuple[StatusId, int, int]]) -> Stretch:
        """Of statuses with their versions, without counts, and conversations: at least one."""
        ids, versions, conversations = zip(*statuses, strict=True)
        return cls(ids, versions, conversations, min(ids), max(ids), min(conversations), max(conversations))


async def flags_of(db: Session, me: AccountId, stretch: Stretch, authors: Sequence[int] = ()) -> list[Flag]:
    """What the viewer has to do with each of them, and perhaps with others."""
    if not authors:
        near = await db.one(
            _near, me=me, least_ids=stretch.least_id, most_ids=stretch.most_id,
            least_conversations=stretch.least_conversation, most_conversations=stretch.most_conversation,
        )  # fmt: skip
        found = _read_flags(near) if near else []
        if len(found) < _NEAR:
            return found
    ids, conversations = list(stretch.ids), list(stretch.conversations)
    return await db.all(_flags, me=me, ids=ids, conversations=conversations, authors=list(authors))


async def standing_of(db: Session, me: AccountId | None, ids: Sequence[int], now: datetime) -> dict[int, str]:
    """How statuses that are quoted stand with the viewer; those that they may not see are left out."""
    values: dict[str, Any] = {"ids": list(ids)} if me is None else {"ids": list(ids), "me": me, "now": now}
    return dict(await db.all(_standing[me is None], **values))


async def mentions_of(db: Session, ids: Sequence[int]) -> dict[StatusId, list[tuple[AccountId, str, str, str]]]:
    """Who is mentioned aloud: id, name, domain, address, by status."""
    found: dict[StatusId, list[tuple[AccountId, str, str, str]]] = {}
    for status_id, account_id, username, domain, url, uri in await db.all(_mentions_of, ids=list(ids)):
        found.setdefault(status_id, []).append((account_id, username, domain, url or uri))
    return found


async def mentioned_in(db: Session, status_id: StatusId) -> list[AccountId]:
    """Everybody who is mentioned, silently or not."""
    return await db.all(_mentioned, status=status_id)


async def mention(db: Session, status_id: StatusId, account_ids: Sequence[AccountId]) -> None:
    if account_ids:
        await db.many(_add_mention, [{"status_id": status_id, "account_id": id, "silent": False} for id in account_ids])
        await db.run(_speak_mentions, status=status_id, accounts=list(account_ids))


async def silence_mentions(db: Session, status_id: StatusId, account_ids: Sequence[AccountId]) -> None:
    """They keep what they could see, and are named no more."""
    if account_ids:
        await db.run(_silence_mentions, status=status_id, accounts=list(account_ids))


async def count(
    db: Session, status_id: StatusId, *, replies: int = 0, reblogs: int = 0, favourites: int = 0, quotes: int = 0
) -> None:
    await db.run(_count, status=status_id, replies=replies, reblogs=reblogs, favourites=favourites, quotes=quotes)


async def remove(db: Session, status_id: StatusId, now: datetime) -> bool:
    """Gone for everybody from now on; the row stays for as long as others must be told. False: it was gone."""
    return await db.run(_delete, status=status_id, now=now) == 1


@lru_cache(256)
def _change(names: frozenset[str]) -> Command:
    values = {name: bindparam(name, type_=statuses.c[name].type) for name in names}
    return command(
        update(statuses).where(statuses.c.id == bindparam("status")).values({**values, "version": changed(statuses)})
    )


async def change(db: Session, status_id: StatusId, changed: Mapping[str, Any]) -> None:
    """What is shown of it is another from now on, so its version grows."""
    await db.run(_change(frozenset(changed)), status=status_id, **changed)


async def insert_edit(db: Session, edit: Edit) -> None:
    await db.run(_insert_edit, **{name: getattr(edit, name) for name in Edit.__struct_fields__})


async def edits_of(db: Session, status_id: StatusId) -> list[Edit]:
    return await db.all(_edits_of, status=status_id)


async def mark(db: Session, name: str, me: AccountId, status_id: StatusId, *, id: int, now: datetime) -> bool:
    """Favourite, bookmark or pin; False when it was there already."""
    return await db.run(_add_mark[name], id=id, account_id=me, status_id=status_id, created_at=now) == 1


async def unmark(db: Session, name: str, me: AccountId, status_id: StatusId) -> bool:
    return await db.run(_drop_mark[name], me=me, status=status_id) == 1


async def pinned_by(db: Session, me: AccountId) -> list[StatusId]:
    return await db.all(_count_pins, me=me)


async def mute_conversation(db: Session, me: AccountId, conversation_id: int) -> None:
    await db.run(_add_mute, account_id=me, conversation_id=conversation_id)


async def unmute_conversation(db: Session, me: AccountId, conversation_id: int) -> None:
    await db.run(_drop_mute, me=me, conversation=conversation_id)


async def insert_scheduled(db: Session, planned: Scheduled) -> None:
    await db.run(_insert_scheduled, **{name: getattr(planned, name) for name in Scheduled.__struct_fields__})


async def find_scheduled(db: Session, me: AccountId, id: int) -> Scheduled | None:
    return await db.one(_scheduled, me=me, id=id)


async def find_idempotent(
    db: Session, me: AccountId, key: str, since: datetime
) -> tuple[StatusId | None, int | None] | None:
    """What this key led to: a status, or a scheduled one."""
    return await db.one(_idempotent, me=me, key=key, now=since)


async def remember(
    db: Session,
    me: AccountId,
    key: str,
    now: datetime,
    since: datetime,
    *,
    status_id: StatusId | None,
    scheduled_id: int | None,
) -> None:
    """Raises `Taken` when another request with this key was quicker."""
    await db.run(_forget_one, me=me, key=key, now=since)
    await db.run(_remember, account_id=me, key=key, status_id=status_id, scheduled_id=scheduled_id, created_at=now)


async def forget_idempotent(db: Session, before: datetime) -> None:
    await db.run(_forget, now=before)


async def domains_of(db: Session, account_ids: Sequence[AccountId]) -> dict[int, tuple[str, bool]]:
    """Where authors live, and whether their pictures are to be hidden."""
    rows = await db.all(_domains, ids=list(set(account_ids)))
    return {id: (domain, sensitized_at is not None) for id, domain, sensitized_at in rows}


async def unpin_everywhere(db: Session, status_id: StatusId) -> None:
    await db.run(_unpin_all, status=status_id)


_after_of = query(
    select(statuses.c.id)
    .where(and_(statuses.c.account_id == bindparam("account"), statuses.c.id > bindparam("after")))
    .order_by(statuses.c.id)
    .limit(bindparam("most")),
    StatusId,
)
_show_anew = command(update(statuses).where(any_of(statuses.c.id, "ids")).values(version=changed(statuses)))


async def show_anew(db: Session, account_id: AccountId, after: int, most: int) -> int | None:
    """The next posts of an account are made anew when next shown; the last of them, where there are more."""
    ids = await db.all(_after_of, account=account_id, after=after, most=most)
    await db.run(_show_anew, ids=ids)
    return ids[-1] if len(ids) == most else None
