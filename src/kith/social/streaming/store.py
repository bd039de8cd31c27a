"""Of those who listen: whom a post reaches, and from whom it is hidden. The rules are those of the timelines.

Every statement takes the accounts that listen here (`viewers`) and decides for all of them at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, FromClause, and_, func, or_, select, true

from kith.base.db import Query, Session, alias_of, any_of, any_row, query
from kith.social.accounts.tables import accounts, preferences
from kith.social.feeds.tables import feeds
from kith.social.ids import AccountId, StatusId
from kith.social.lists.tables import lists, members
from kith.social.relationships import rules
from kith.social.statuses.tables import (
    PRIVATE,
    PUBLIC,
    UNLISTED,
    bookmarks,
    conversation_mutes,
    favourites,
    mentions,
    statuses,
    votes,
)
from kith.social.tags.tables import tag_follows, tags
from kith.social.timelines.feed_rules import (
    TA,
    S,
    T,
    acceptable,
    followers_that_listen,
    homes_by_tag_that_listen,
    homes_that_listen,
    is_in_exclusive_list,
    lists_that_listen,
)

Clause = ColumnElement[bool]
Pairs = dict[StatusId, set[int]]

A = alias_of(accounts, "a")
V = alias_of(accounts, "v")  # whoever listens
_Q, _QA = alias_of(statuses, "q"), alias_of(accounts, "qa")  # what is quoted, and whose it is


class Post(msgspec.Struct, frozen=True):
    """What decides where a status is streamed."""

    id: StatusId
    account_id: AccountId
    local: bool
    visibility: int
    reblog_of_id: StatusId | None
    in_reply_to_id: StatusId | None
    in_reply_to_account_id: AccountId | None
    conversation_id: int
    media_ids: list[int]
    tag_names: list[str]
    language: str | None
    subject_id: StatusId
    quoted_id: StatusId | None
    subject_author_id: AccountId
    subject_policy: str
    subject_visibility: int
    is_silenced: bool
    is_avoided: bool  # somebody blocks or mutes, or is blocked by, somebody it is from
    is_delicate: bool  # it quotes what not everybody may see
    names_anybody: bool
    is_kept_apart: bool  # its author is on an exclusive list of somebody

    @property
    def is_open(self) -> bool:
        """Whether it belongs on timelines for everybody."""
        return self.visibility == PUBLIC and self.reblog_of_id is None and not self.is_silenced

    @property
    def is_plain(self) -> bool:
        """Whether it is for every follower who reads its language: no rule but that is to be asked."""
        is_reply = self.in_reply_to_account_id not in (None, self.account_id)
        apart = self.is_avoided or self.names_anybody or self.is_kept_apart
        return self.visibility <= PRIVATE and not is_reply and not apart and self.reblog_of_id is None

    @property
    def texts(self) -> tuple[StatusId, ...]:
        """The statuses whose words are shown with it."""
        return (self.subject_id,) if self.quoted_id is None else (self.subject_id, self.quoted_id)

    @property
    def asks_followers(self) -> tuple[StatusId, ...]:
        """The statuses that tell their viewer whether they may be quoted by those who follow their author."""
        by_followers = self.subject_policy == "followers" and self.subject_visibility <= UNLISTED
        own = (self.subject_id,) if by_followers else ()
        return own if self.quoted_id is None else (*own, self.quoted_id)

    @property
    def is_reply_to_others(self) -> bool:
        return self.in_reply_to_id is not None and self.in_reply_to_account_id != self.account_id


def _with_subject(source: FromClause) -> FromClause:
    """With what a status shows (itself, or what it boosts), and whose that is."""
    return source.join(T, T.c.id == func.coalesce(S.c.reblog_of_id, S.c.id)).join(TA, TA.c.id == T.c.account_id)


def _quotes_delicately() -> Clause:
    hidden = or_(_Q.c.visibility > 1, rules.is_hidden_from_anyone(_QA))
    return any_row(_Q.join(_QA, _QA.c.id == _Q.c.account_id), and_(_Q.c.id == T.c.quoted_id, hidden))


def _names_anybody() -> Clause:
    own = alias_of(mentions)
    return any_row(own, own.c.status_id == T.c.id)


_posts = query(
    lambda: select(
        S.c.id, S.c.account_id, S.c.local, S.c.visibility, S.c.reblog_of_id, S.c.in_reply_to_id,
        S.c.in_reply_to_account_id, S.c.conversation_id, S.c.media_ids, S.c.tag_names, S.c.language,
        T.c.id.label("subject_id"), T.c.quoted_id, T.c.account_id.label("subject_author_id"),
        T.c.quote_policy.label("subject_policy"),
        T.c.visibility.label("subject_visibility"), A.c.silenced_at.is_not(None).label("is_silenced"),
        or_(rules.is_hidden_from_anyone(A), rules.is_hidden_from_anyone(TA)).label("is_avoided"),
        and_(T.c.quoted_id.is_not(None), _quotes_delicately()).label("is_delicate"),
        _names_anybody().label("names_anybody"), is_in_exclusive_list().label("is_kept_apart"),
    )
    .select_from(_with_subject(S.join(A, A.c.id == S.c.account_id)))
    .where(any_of(S.c.id, "ids"))
    .order_by(S.c.id),
    Post,
)  # fmt: skip


def _pairs(*clauses: Clause) -> Query[Any]:
    """Which of those who listen, to which of the statuses."""
    source = _with_subject(V.join(S, true()).join(A, A.c.id == S.c.account_id))
    return query(
        select(S.c.id, V.c.id)
        .select_from(source)
        .where(and_(any_of(V.c.id, "viewers"), any_of(S.c.id, "ids"), *clauses)),
        tuple,
    )


def _names(viewer: ColumnElement[Any]) -> Clause:
    own = alias_of(mentions)
    return any_row(own, and_(own.c.status_id == S.c.id, own.c.account_id == viewer))


_hidden_author = _pairs(rules.hides_author(V.c.id, A))
_hidden_quote = _pairs(
    any_row(_QA.join(_Q, _Q.c.account_id == _QA.c.id), and_(_Q.c.id == T.c.quoted_id, rules.hides_author(V.c.id, _QA)))
)
_not_for_home = _pairs(
    V.c.id != S.c.account_id,
    or_(
        ~acceptable(V.c.id),
        and_(S.c.visibility == PRIVATE, ~rules.follows(V.c.id, S.c.account_id), ~_names(V.c.id)),
    ),
)
_reached = _pairs(
    or_(
        V.c.id == S.c.account_id,
        and_(S.c.visibility <= PRIVATE, rules.follows(V.c.id, S.c.account_id)),
        _names(V.c.id),
    )
)
_follow_tags = query(
    lambda: (
        select(tag_follows.c.account_id)
        .join(tags, tags.c.id == tag_follows.c.tag_id)
        .where(and_(any_of(tags.c.name, "names"), any_of(tag_follows.c.account_id, "viewers")))
    ),
    AccountId,
)
_may_have_read = or_(
    S.c.visibility <= UNLISTED,
    S.c.account_id == lists.c.account_id,
    and_(S.c.visibility == PRIVATE, rules.follows(lists.c.account_id, S.c.account_id)),
    _names(lists.c.account_id),
)
_on_lists = query(
    lambda: (
        select(S.c.id, members.c.list_id)
        .select_from(
            members.join(S, S.c.account_id == members.c.account_id).join(lists, lists.c.id == members.c.list_id)
        )
        .where(and_(any_of(members.c.list_id, "lists"), any_of(S.c.id, "ids"), _may_have_read))
    ),
    tuple,
)
_fed = query(
    lambda: select(feeds.c.status_id, feeds.c.owner).where(
        and_(any_of(feeds.c.owner, "owners"), any_of(feeds.c.status_id, "ids"))
    ),
    tuple,
)
_fed_subject = query(
    lambda: (
        select(feeds.c.original_id, feeds.c.owner)
        .where(and_(any_of(feeds.c.owner, "owners"), any_of(feeds.c.original_id, "ids")))
        .distinct()
    ),
    tuple,
)
_languages = query(
    lambda: select(preferences.c.account_id, preferences.c.chosen_languages).where(
        and_(any_of(preferences.c.account_id, "viewers"), preferences.c.chosen_languages.is_not(None))
    ),
    tuple,
)
_followers = query(
    lambda: (
        select(V.c.id)
        .select_from(V.join(_Q, true()))
        .where(and_(any_of(V.c.id, "viewers"), any_of(_Q.c.id, "ids"), rules.follows(V.c.id, _Q.c.account_id)))
    ),
    AccountId,
)


def _mark(table: Any) -> Clause:
    own = alias_of(table)
    return any_row(own, and_(own.c.account_id == V.c.id, own.c.status_id == T.c.id))


def _boosted() -> Clause:
    own = alias_of(statuses)
    return any_row(own, and_(own.c.account_id == V.c.id, own.c.reblog_of_id == T.c.id, own.c.deleted_at.is_(None)))


def _voted() -> Clause:
    own = alias_of(votes)
    return and_(T.c.poll_id.is_not(None), any_row(own, and_(own.c.poll_id == T.c.poll_id, own.c.account_id == V.c.id)))


def _muted_thread() -> Clause:
    own = alias_of(conversation_mutes)
    return any_row(own, and_(own.c.account_id == V.c.id, own.c.conversation_id == T.c.conversation_id))


# Who has anything of their own to do with a status, so that it is shown to them otherwise than to the rest.
_concerned = _pairs(
    or_(
        T.c.account_id == V.c.id, _mark(favourites), _mark(bookmarks), _boosted(), _voted(), _muted_thread(),
    )
)  # fmt: skip
# The same of a post that is new: nobody but its author has had to do with it, unless its thread was muted.
_concerned_by_new = _pairs(or_(T.c.account_id == V.c.id, _muted_thread()))


_may_not_act = query(
    lambda: select(accounts.c.id).where(
        and_(
            any_of(accounts.c.id, "ids"),
            or_(
                accounts.c.suspended_at.is_not(None),
                accounts.c.deleted_at.is_not(None),
                accounts.c.moved_to.is_not(None),
                accounts.c.memorial,
            ),
        )
    ),
    AccountId,
)


async def barred(db: Session, ids: Collection[AccountId]) -> set[AccountId]:
    """Which of these accounts may not act any more (`Account.may_act`)."""
    return set(await db.slow(_may_not_act, ids=list(ids)))


async def read(db: Session, ids: Iterable[StatusId]) -> list[Post]:
    """Also those that were deleted, as long as there is a row."""
    return await db.all(_posts, ids=list(dict.fromkeys(ids)))


def _by_status(found: Iterable[tuple[StatusId, int]]) -> Pairs:
    pairs: Pairs = defaultdict(set)
    for status_id, other in found:
        pairs[status_id].add(other)
    return pairs


async def _all(
    db: Session, pairs: Query[Any], posts: Collection[Post], viewers: Collection[int], now: datetime | None = None
) -> Pairs:
    if not posts or not viewers:
        return defaultdict(set)
    values: dict[str, Any] = {} if now is None else {"now": now}
    return _by_status(await db.all(pairs, ids=[post.id for post in posts], viewers=list(viewers), **values))


async def hidden_from(db: Session, posts: Sequence[Post], viewers: Collection[AccountId], now: datetime) -> Pairs:
    """Whoever does not see a public post: they or its author block, mute, or read other languages."""
    hidden = await _all(db, _hidden_author, [post for post in posts if post.is_avoided], viewers, now)
    if any(post.language for post in posts) and viewers:
        for viewer, chosen in await db.all(_languages, viewers=list(viewers)):
            for post in posts:
                if chosen and post.language and post.language not in chosen:
                    hidden[post.id].add(viewer)
    return hidden


async def not_for_home(db: Session, posts: Sequence[Post], viewers: Collection[AccountId], now: datetime) -> Pairs:
    """Whoever got it into a feed at the very moment in which they, or its author, did not want that any more."""
    doubtful = [post for post in posts if post.is_avoided or post.visibility == PRIVATE]
    return await _all(db, _not_for_home, doubtful, viewers, now)


async def chosen(
    db: Session, posts: Collection[Post], homes: Collection[int], lists: Collection[int], now: datetime
) -> Pairs:
    """In which of these homes and lists new posts belong, by the rules of the feeds; one's own are at home."""
    found: Pairs = defaultdict(set)
    ids = [post.id for post in posts]
    plain = [post.id for post in posts if post.is_plain]
    other = [post.id for post in posts if not post.is_plain]
    tagged = [post.id for post in posts if post.is_open and post.tag_names]
    asked = (
        (followers_that_listen, plain, homes),
        (homes_that_listen, other, homes),
        (homes_by_tag_that_listen, tagged, homes),
        (lists_that_listen, ids, lists),
    )
    for rules_of, some, owners in asked:
        if some and owners:
            for id, owner in await db.all(rules_of, statuses=some, owners=list(owners), now=now):
                found[id].add(owner)
    for post in posts:
        if post.account_id in homes:
            found[post.id].add(post.account_id)
    return found


async def fed(db: Session, ids: Sequence[StatusId], owners: Collection[int]) -> Pairs:
    """In which of these homes and lists the statuses stand."""
    return _by_status(await db.all(_fed, ids=list(ids), owners=list(owners))) if owners else {}


async def fed_with(db: Session, ids: Sequence[StatusId], owners: Collection[int]) -> Pairs:
    """The same, where it stands there as a boost, too."""
    return _by_status(await db.all(_fed_subject, ids=list(ids), owners=list(owners))) if owners else {}


async def reached(db: Session, posts: Sequence[Post], viewers: Collection[AccountId]) -> Pairs:
    """In whose home a status that is gone may have stood."""
    found = await _all(db, _reached, posts, viewers)
    for post in posts:
        if post.is_open and post.tag_names and viewers:
            names = await db.all(_follow_tags, names=post.tag_names, viewers=list(viewers))
            found[post.id].update(names)
    return found


async def on_lists(db: Session, ids: Sequence[StatusId], lists: Collection[int]) -> Pairs:
    return _by_status(await db.all(_on_lists, ids=list(ids), lists=list(lists))) if lists else {}


async def concerned(db: Session, post: Post, viewers: Collection[AccountId], *, is_new: bool) -> set[int]:
    """Those to whom it is shown otherwise than to the rest. What it quotes is older, however new it is itself."""
    found: set[int] = {post.account_id}
    if not is_new or post.in_reply_to_id is not None:
        found |= await _of_one(db, _concerned_by_new if is_new else _concerned, post.id, viewers)
    if post.quoted_id is not None:
        found |= await _of_one(db, _concerned, post.quoted_id, viewers)
    return found


async def _of_one(db: Session, pairs: Query[Any], id: StatusId, viewers: Collection[AccountId]) -> set[int]:
    return _by_status(await db.all(pairs, ids=[id], viewers=list(viewers)))[id] if viewers else set()


async def not_to_see_quoted(db: Session, posts: Sequence[Post], viewers: Collection[AccountId], now: datetime) -> Pairs:
    """Whoever does not see what a post quotes: they or the author of that block or mute."""
    return await _all(db, _hidden_quote, [post for post in posts if post.is_delicate], viewers, now)


async def followers(db: Session, id: StatusId, viewers: Collection[AccountId]) -> set[AccountId]:
    """Those of them who follow the author of a status."""
    return set(await db.all(_followers, ids=[id], viewers=list(viewers)))
