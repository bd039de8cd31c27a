from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Integer, and_, bindparam, func, literal_column, or_, select, update

from kith.base.db import Command, Instant, Session, alias_of, any_of, command, insert_into, query, upsert
from kith.federation.posts.tables import RemotePost, remote_posts
from kith.social.accounts.tables import Account, accounts
from kith.social.ids import AccountId, StatusId
from kith.social.media.tables import Media, media
from kith.social.relationships.follow_source import Following
from kith.social.statuses.store import mute_conversation
from kith.social.statuses.tables import Status, conversation_mutes, favourites, mentions, polls, statuses
from kith.social.versions import changed

# What a post has beside what is shown

_find = query(lambda: select(remote_posts).where(remote_posts.c.status_id == bindparam("status")), RemotePost)
_new = upsert(remote_posts).values(
    {column.name: bindparam(column.name, type_=column.type) for column in remote_posts.c}
)
_save = command(
    lambda: _new.on_conflict_do_update(
        index_elements=["status_id"],
        set_={column.name: _new.excluded[column.name] for column in remote_posts.c if not column.primary_key},
    ).inline()
)
_stamps = query(
    lambda: select(remote_posts.c.status_id, remote_posts.c.stamp).where(
        and_(any_of(remote_posts.c.status_id, "ids"), remote_posts.c.stamp.is_not(None))
    ),
    tuple,
)


async def find(db: Session, status_id: StatusId) -> RemotePost | None:
    return await db.one(_find, status=status_id)


async def save(db: Session, post: RemotePost) -> None:
    await db.run(_save, **{name: getattr(post, name) for name in RemotePost.__struct_fields__})


@lru_cache(32)
def _change(names: frozenset[str]) -> Command:
    values = {name: bindparam(f"new_{name}", type_=remote_posts.c[name].type) for name in sorted(names)}
    return command(update(remote_posts).where(remote_posts.c.status_id == bindparam("status")).values(values))


async def change(db: Session, status_id: StatusId, **values: Any) -> None:
    named = {f"new_{name}": value for name, value in values.items()}
    await db.run(_change(frozenset(values)), status=status_id, **named)


async def stamps_of(db: Session, ids: Sequence[StatusId]) -> dict[StatusId, str]:
    """By the posts that quote."""
    return dict(await db.all(_stamps, ids=list(ids))) if ids else {}


# Who is meant, and whether anybody here cares

_people = query(lambda: select(accounts).where(any_of(accounts.c.uri, "uris")), Account)
_follower = alias_of(accounts, "follower")
_follow = Following("follow")
_followed = query(
    lambda: (
        select(_follow.followed)
        .select_from(_follow.source.join(_follower, _follower.c.id == _follow.follower))
        .where(and_(any_of(_follow.followed, "ids"), _follower.c.domain == ""))
        .limit(1)
    ),
    AccountId,
)
_members = query(
    lambda: (
        select(accounts.c.id)
        .where(and_(any_of(accounts.c.uri, "uris"), accounts.c.domain == "", accounts.c.deleted_at.is_(None)))
        .limit(1)
    ),
    AccountId,
)


async def people(db: Session, uris: Sequence[str]) -> dict[str, Account]:
    return {account.uri: account for account in await db.all(_people, uris=list(uris))} if uris else {}


async def any_followed(db: Session, ids: Sequence[AccountId]) -> bool:
    """Whether somebody who lives here follows one of them."""
    return await db.one(_followed, ids=list(ids)) is not None


async def any_member(db: Session, uris: Sequence[str]) -> bool:
    return bool(uris) and await db.one(_members, uris=list(uris)) is not None


# Rows of a post

_add_media = command(lambda: insert_into(media))
_add_silent = command(lambda: upsert(mentions).values(
    status_id=bindparam("status_id"), account_id=bindparam("account_id"), silent=bindparam("silent")
).on_conflict_do_nothing().inline())  # fmt: skip
_likes = query(
    lambda: select(func.count()).select_from(favourites).where(favourites.c.status_id == bindparam("status")), int
)
_boosts = query(
    lambda: (
        select(func.count())
        .select_from(statuses)
        .where(and_(statuses.c.reblog_of_id == bindparam("status"), statuses.c.deleted_at.is_(None)))
    ),
    int,
)


async def add_media(db: Session, rows: Sequence[Media]) -> None:
    if rows:
        names = Media.__struct_fields__
        await db.many(_add_media, [{name: getattr(row, name) for name in names} for row in rows])


async def add_mentions(db: Session, status_id: StatusId, people: Mapping[AccountId, bool]) -> None:
    """Whether each is meant silently; who is mentioned already stays so."""
    if people:
        rows = [{"status_id": status_id, "account_id": id, "silent": silent} for id, silent in people.items()]
        await db.many(_add_silent, rows)


async def counted_here(db: Session, status_id: StatusId) -> tuple[int, int]:
    """Favourites and boosts that are known here."""
    return await db.one(_likes, status=status_id) or 0, await db.one(_boosts, status=status_id) or 0


# Threads. Any number of posts may bear one name, or answer one: they are in this order in the index, and not sorted.

_waiting = query(
    lambda: (
        select(statuses)
        .join(remote_posts, remote_posts.c.status_id == statuses.c.id)
        .where(and_(remote_posts.c.parent == bindparam("uri"), statuses.c.deleted_at.is_(None)))
        .order_by(remote_posts.c.status_id)
        .limit(bindparam("most"))
    ),
    Status,
)
_conversation = query(
    lambda: (
        select(statuses.c.conversation_id)
        .join(remote_posts, remote_posts.c.status_id == statuses.c.id)
        .where(remote_posts.c.conversation == bindparam("uri"))
        .order_by(remote_posts.c.status_id)
        .limit(1)
    ),
    int,
)
_some_of = select(statuses.c.id).where(statuses.c.conversation_id == bindparam("conversation")).limit(bindparam("most"))
_length = query(lambda: select(func.count()).select_from(_some_of.subquery()), int)
_muting = query(
    lambda: select(conversation_mutes.c.account_id).where(
        conversation_mutes.c.conversation_id == bindparam("conversation")
    ),
    AccountId,
)
_join_conversation = command(
    lambda: (
        update(statuses)
        .where(statuses.c.conversation_id == bindparam("old"))
        .values(conversation_id=bindparam("new"), version=changed(statuses))
    )
)


_parent = alias_of(statuses, "parent")
_up = (
    select(
        statuses.c.id,
        statuses.c.in_reply_to_id,
        statuses.c.conversation_id,
        literal_column("0", Integer).label("distance"),
    )
    .where(statuses.c.id == bindparam("of"))
    .cte("up", recursive=True)
)
_up = _up.union_all(
    select(
        _parent.c.id,
        _parent.c.in_reply_to_id,
        _parent.c.conversation_id,
        _up.c.distance + literal_column("1", Integer),
    )
    .join(_up, _parent.c.id == _up.c.in_reply_to_id)
    .where(_up.c.distance < bindparam("most"))
)
_above = query(lambda: select(_up.c.id, _up.c.conversation_id), tuple)


async def above(db: Session, of: StatusId, most: int) -> dict[StatusId, int]:
    """A post and those above it in its thread, no more than one over `most`, and to which conversation each belongs."""
    return dict(await db.all(_above, of=of, most=most))


async def waiting_for(db: Session, uri: str, most: int) -> list[Status]:
    """Answers to a post that was not known when they came."""
    return await db.all(_waiting, uri=uri, most=most)


async def conversation_of(db: Session, uri: str) -> int | None:
    return await db.one(_conversation, uri=uri)


async def length_of(db: Session, conversation_id: int, most: int) -> int:
    """How many posts a thread has; no more than `most` are counted."""
    return await db.one(_length, conversation=conversation_id, most=most) or 0


async def join_conversation(db: Session, old: int, new: int) -> None:
    """Whoever has muted the one has muted the other."""
    await db.run(_join_conversation, old=old, new=new)
    for account_id in await db.all(_muting, conversation=old):
        await mute_conversation(db, account_id, new)


# Quotes

_stamped = query(
    lambda: (
        select(statuses)
        .join(remote_posts, remote_posts.c.status_id == statuses.c.id)
        .where(remote_posts.c.stamp == bindparam("stamp"))
        .limit(100)
    ),
    Status,
)
_due = query(
    lambda: (
        select(remote_posts.c.status_id, remote_posts.c.stamp)
        .join(statuses, statuses.c.id == remote_posts.c.status_id)
        .where(
            and_(
                remote_posts.c.stamp_checked_at < bindparam("before", type_=Instant()),
                statuses.c.quote_state == "accepted",
                statuses.c.deleted_at.is_(None),
                remote_posts.c.stamp.is_not(None),
            )
        )
        .order_by(remote_posts.c.stamp_checked_at)
        .limit(bindparam("most"))
    ),
    tuple,
)


async def stamped_with(db: Session, stamp: str) -> list[Status]:
    return await db.all(_stamped, stamp=stamp)


async def stamps_due(db: Session, before: datetime, most: int) -> list[tuple[StatusId, str]]:
    """Quotes whose stamp was looked at long ago, and where it is."""
    return await db.all(_due, before=before, most=most)


# What is asked for while somebody looks

_before = bindparam("before", type_=Instant())
_now = bindparam("now", type_=Instant())
_ask_replies = command(
    lambda: (
        update(remote_posts)
        .where(
            and_(
                remote_posts.c.status_id == bindparam("status"),
                or_(remote_posts.c.replies_asked_at.is_(None), remote_posts.c.replies_asked_at < _before),
            )
        )
        .values(replies_asked_at=_now, replies_read_at=None)
    )
)
_ask_poll = command(
    lambda: (
        update(polls).where(and_(polls.c.id == bindparam("poll"), polls.c.fetched_at < _before)).values(fetched_at=_now)
    )
)


async def ask_replies(db: Session, status_id: StatusId, before: datetime, now: datetime) -> bool:
    """Of many who look at once, one asks."""
    return await db.run(_ask_replies, status=status_id, before=before, now=now) == 1


async def ask_poll(db: Session, poll_id: int, before: datetime, now: datetime) -> bool:
    return await db.run(_ask_poll, poll=poll_id, before=before, now=now) == 1
