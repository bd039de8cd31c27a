"""Statements that only documents need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, and_, bindparam, func, select

from kith.base.db import Query, Session, alias_of, any_of, query
from kith.federation.people.tables import actors
from kith.social.accounts.tables import accounts
from kith.social.emojis.tables import Emoji, emojis
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import access
from kith.social.statuses.tables import mentions, statuses
from kith.social.tags.tables import featured_tags, tags

__all__ = ["MentionRow", "Reply", "emoji", "featured_names", "mentions_in", "own_answers", "replies_to", "said_in"]


class MentionRow(msgspec.Struct, frozen=True):
    status_id: StatusId
    account_id: AccountId
    silent: bool
    uri: str
    username: str
    domain: str
    group: str | None  # where they are one: the list of those who follow it


class Reply(msgspec.Struct, frozen=True):
    parent_id: StatusId
    id: StatusId
    uri: str


_is_group = and_(actors.c.account_id == mentions.c.account_id, accounts.c.actor_type == "Group")
_mentions = query(
    select(
        mentions.c.status_id,
        mentions.c.account_id,
        mentions.c.silent,
        accounts.c.uri,
        accounts.c.username,
        accounts.c.domain,
        actors.c.followers.label("group"),
    )
    .join(accounts, accounts.c.id == mentions.c.account_id)
    .outerjoin(actors, _is_group)
    .where(any_of(mentions.c.status_id, "ids"))
    .order_by(mentions.c.status_id, mentions.c.account_id),
    MentionRow,
)

_child, _author, _parent = alias_of(statuses, "child"), alias_of(accounts, "author"), alias_of(statuses, "parent")
_is_by_author: ColumnElement[bool] = _child.c.account_id == _parent.c.account_id
_answers = (
    select(
        _parent.c.id.label("parent_id"),
        _child.c.id,
        _child.c.uri,
        func.row_number().over(partition_by=_parent.c.id, order_by=_child.c.id).label("place"),
    )
    .select_from(
        _parent.join(_child, _child.c.in_reply_to_id == _parent.c.id).join(_author, _author.c.id == _child.c.account_id)
    )
    .where(and_(any_of(_parent.c.id, "ids"), access.visible_to_anyone(_child, _author), _is_by_author))
    .subquery()
)
_own_answers = query(
    select(_answers.c.parent_id, _answers.c.id, _answers.c.uri)
    .where(_answers.c.place <= bindparam("most"))
    .order_by(_answers.c.parent_id, _answers.c.id),
    Reply,
)


def _may_be_seen(*more: ColumnElement[bool]) -> ColumnElement[bool]:
    """Asked of each by itself, so that what anybody may add to without end is walked along in its order, no further
    than a page: to join its authors, it would be read whole and sorted."""
    seen = and_(_author.c.id == _child.c.account_id, access.visible_to_anyone(_child, _author), *more)
    return select(_author.c.id).where(seen).correlate(_child).scalar_subquery().is_not(None)  # an EXISTS is a join, too


def _replies(by_others: bool) -> Query[Reply]:
    is_author = _child.c.account_id == bindparam("author")
    by = (~is_author, _may_be_seen(_author.c.silenced_at.is_(None))) if by_others else (is_author, _may_be_seen())
    is_answer = and_(_child.c.in_reply_to_id == bindparam("status"), _child.c.id > bindparam("after"))
    return query(
        select(_child.c.in_reply_to_id.label("parent_id"), _child.c.id, _child.c.uri)
        .where(and_(is_answer, *by))
        .order_by(_child.c.id)
        .limit(bindparam("most")),
        Reply,
    )


_replies_to: dict[bool, Query[Any]] = {by_others: _replies(by_others) for by_others in (False, True)}
_said = query(
    select(_child.c.conversation_id.label("parent_id"), _child.c.id, _child.c.uri)
    .where(
        and_(
            _child.c.conversation_id == bindparam("conversation"),
            _child.c.id > bindparam("after"),
            _child.c.reblog_of_id.is_(None),
            _may_be_seen(),
        )
    )
    .order_by(_child.c.id)
    .limit(bindparam("most")),
    Reply,
)
_featured = query(
    select(tags.c.name)
    .join(featured_tags, featured_tags.c.tag_id == tags.c.id)
    .where(featured_tags.c.account_id == bindparam("account"))
    .order_by(featured_tags.c.id),
    str,
)
_emoji = query(
    select(emojis).where(and_(emojis.c.id == bindparam("emoji"), emojis.c.domain == "", ~emojis.c.disabled)), Emoji
)


async def mentions_in(db: Session, ids: Sequence[int]) -> dict[StatusId, list[MentionRow]]:
    """Everybody whom a post names, silently or not, by post."""
    found: dict[StatusId, list[MentionRow]] = {}
    for row in await db.all(_mentions, ids=list(ids)):
        found.setdefault(row.status_id, []).append(row)
    return found


async def own_answers(db: Session, ids: Sequence[int], most: int) -> dict[StatusId, list[Reply]]:
    """The first that the author of each post says below it, for everybody."""
    found: dict[StatusId, list[Reply]] = {}
    for row in await db.all(_own_answers, ids=list(ids), most=most):
        found.setdefault(row.parent_id, []).append(row)
    return found


async def replies_to(
    db: Session, id: StatusId, author: AccountId, after: int, most: int, *, by_others: bool
) -> list[Reply]:
    """Oldest first, from an id on, by the author of the post or by others. Many may be for nobody who asks here."""
    return await db.slow(_replies_to[by_others], status=id, author=author, after=after, most=most)


async def said_in(db: Session, conversation: int, after: int, most: int) -> list[Reply]:
    """Whatever everybody may see of a thread, oldest first, from an id on."""
    return await db.slow(_said, conversation=conversation, after=after, most=most)


async def featured_names(db: Session, account_id: AccountId) -> list[str]:
    return await db.all(_featured, account=account_id)


async def emoji(db: Session, id: int) -> Emoji | None:
    """One of our own."""
    return await db.one(_emoji, emoji=id)
