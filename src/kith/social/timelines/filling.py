"""What belongs in whose feed: the rules of home and list feeds, each a clause, and the statements made of them.

A status is put into many feeds by one statement, which asks the rules of every feed for itself. The same clauses
serve when a feed is built anew, for many statuses and one feed. `owner` is whose feed it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
)

from kith.base.db import Command, Instant, any_of, command, query, upsert
from kith.social.accounts.tables import accounts
from kith.social.feeds.tables import feed_states, feeds
from kith.social.lists.tables import lists, members
from kith.social.relationships.tables import blocks, domain_blocks, follows, mutes
from kith.social.statuses.tables import DIRECT, LIMITED, PRIVATE, PUBLIC, mentions, statuses
from kith.social.tags.tables import status_tags, tag_follows

Clause = ColumnElement[bool]
AGGREGATED = 80
PROMOTED = 10
CHUNK = 1000

_now = bindparam("now", type_=Instant())
S = statuses.alias("s")
T = statuses.alias("t")
TA = accounts.alias("ta")


# Every clause looks at tables of its own, whatever the statement around it is about.


def _any(table: FromClause, clause: Clause) -> Clause:
    return exists(select(literal_column("1")).select_from(table).where(clause).correlate_except(table))


def _blocks(one: ColumnElement[Any], other: ColumnElement[Any]) -> Clause:
    own = blocks.alias()
    return _any(own, and_(own.c.account_id == one, own.c.target_id == other))


def _hides(owner: ColumnElement[Any], other: ColumnElement[Any]) -> Clause:
    """Whether the owner blocks or mutes somebody."""
    own = mutes.alias()
    lasting = or_(own.c.expires_at.is_(None), own.c.expires_at > _now)
    muted = _any(own, and_(own.c.account_id == owner, own.c.target_id == other, lasting))
    return or_(_blocks(owner, other), muted)


def _hides_anyone_in(owner: ColumnElement[Any], status_id: ColumnElement[Any]) -> Clause:
    """Whether the owner blocks or mutes anybody whom the status mentions."""
    named = mentions.alias()
    return _any(named, and_(named.c.status_id == status_id, _hides(owner, named.c.account_id)))


def _follows(owner: ColumnElement[Any], other: ColumnElement[Any]) -> Clause:
    own = follows.alias()
    return _any(own, and_(own.c.account_id == owner, own.c.target_id == other))


def _is_boost() -> Clause:
    return S.c.reblog_of_id.is_not(None)


def acceptable(owner: ColumnElement[Any]) -> Clause:
    """Nobody in it, and nobody it is from, whom the owner does not want to see or who does not want to be seen."""
    return and_(
        ~_hides(owner, S.c.account_id),
        ~_blocks(S.c.account_id, owner),
        ~_hides_anyone_in(owner, T.c.id),
        or_(
            ~_is_boost(),
            and_(~_hides(owner, T.c.account_id), ~_blocks(T.c.account_id, owner), ~_blocks_domain(owner, TA.c.domain)),
        ),
    )


def _blocks_domain(owner: ColumnElement[Any], domain: ColumnElement[Any]) -> Clause:
    found = select(domain_blocks.c.id).where(
        and_(domain_blocks.c.account_id == owner, domain_blocks.c.domain == domain)
    )
    return and_(domain != "", exists(found))


def _is_for_home(owner: ColumnElement[Any]) -> Clause:
    """A reply to others is shown to those who follow both. One whose parent is not known here is shown to nobody."""
    return or_(
        S.c.in_reply_to_account_id.is_(None),
        S.c.in_reply_to_account_id == S.c.account_id,
        S.c.in_reply_to_account_id == owner,
        _follows(owner, S.c.in_reply_to_account_id),
    )


def _reaches(owner: ColumnElement[Any]) -> Clause:
    """What is for followers reaches followers; what is for some reaches those it mentions."""
    own = mentions.alias()
    named = _any(own, and_(own.c.status_id == S.c.id, own.c.account_id == owner))
    return or_(S.c.visibility <= PRIVATE, and_(S.c.visibility.in_((DIRECT, LIMITED)), named))


def _is_in_exclusive_list(owner: ColumnElement[Any]) -> Clause:
    kept, on_it = lists.alias(), members.alias()
    return exists(
        select(on_it.c.id)
        .join(kept, kept.c.id == on_it.c.list_id)
        .where(and_(kept.c.account_id == owner, kept.c.exclusive, on_it.c.account_id == S.c.account_id))
        .correlate_except(kept, on_it)
    )


def _is_shown_already(owner: ColumnElement[Any]) -> Clause:
    """A boost of what stands, or stood boosted, among the newest entries is left out."""
    newest, other = feeds.alias("newest"), feeds.alias("other")
    recent = (
        select(newest.c.status_id)
        .where(newest.c.owner == owner)
        .order_by(newest.c.status_id.desc())
        .offset(AGGREGATED - 1)
        .limit(1)
        .correlate_except(newest)
        .scalar_subquery()
    )
    return _any(
        other,
        and_(other.c.owner == owner, other.c.original_id == T.c.id, other.c.status_id >= func.coalesce(recent, 0)),
    )


def _is_there() -> Clause:
    return and_(S.c.deleted_at.is_(None), T.c.deleted_at.is_(None), TA.c.suspended_at.is_(None))


def _subject(source: FromClause) -> FromClause:
    return source.join(T, T.c.id == func.coalesce(S.c.reblog_of_id, S.c.id)).join(TA, TA.c.id == T.c.account_id)


def _entries(owner: ColumnElement[Any], *, by_tag: bool = False) -> Select[Any]:
    return select(owner, S.c.id, T.c.id, S.c.account_id, true() if by_tag else false())


_COLUMNS = ["owner", "status_id", "original_id", "author_id", "by_tag"]
_these = any_of(S.c.id, "statuses")


def _put(entries: Callable[[], Select[Any]]) -> Command:
    return command(lambda: upsert(feeds).from_select(_COLUMNS, entries()).on_conflict_do_nothing().inline())


def _home_rules(owner: ColumnElement[Any]) -> Clause:
    return and_(
        _is_there(),
        _reaches(owner),
        acceptable(owner),
        _is_for_home(owner),
        ~_is_in_exclusive_list(owner),
        or_(~_is_boost(), ~_is_shown_already(owner)),
    )


_follower = follows.c.account_id
_chunk = and_(follows.c.id > bindparam("after"), follows.c.id <= bindparam("upto"))
_speaks = or_(
    follows.c.languages.is_(None),
    S.c.language.is_(None),
    # A JSON list of codes, read as text, which both databases can look into alike.
    cast(follows.c.languages, Text).like(literal('%"').concat(S.c.language).concat('"%')),
)

# Followers who are here now and then, a stretch of them at a time.
put_into_homes = _put(
    lambda: (
        _entries(_follower)
        .select_from(
            _subject(
                follows.join(feed_states, feed_states.c.account_id == follows.c.account_id).join(
                    S, S.c.account_id == follows.c.target_id
                )
            )
        )
        .where(and_(_these, _chunk, _speaks, or_(~_is_boost(), follows.c.reblogs), _home_rules(_follower)))
    )
)
# Whose followers are more than one stretch, and where it ends.
_next = follows.alias("next")
_end = (
    select(_next.c.id)
    .where(and_(_next.c.target_id == S.c.account_id, _next.c.id > bindparam("after")))
    .order_by(_next.c.id)
    .offset(CHUNK - 1)
    .limit(1)
    .correlate_except(_next)
    .scalar_subquery()
)
ends_of_chunks = query(lambda: select(S.c.id, _end).where(and_(_these, _end.is_not(None))), tuple)


other_boosts = query(
    lambda: (
        select(S.c.id)
        .where(and_(S.c.reblog_of_id == bindparam("original"), S.c.deleted_at.is_(None)))
        .order_by(S.c.id.desc())
        .limit(PROMOTED)
    ),
    int,
)


def _list_replies(owner: ColumnElement[Any]) -> Clause:
    """Replies to others, as the list's own policy says."""
    on_it = members.alias("on_it")
    target_is_on_it = _any(on_it, and_(on_it.c.list_id == lists.c.id, on_it.c.account_id == S.c.in_reply_to_account_id))
    return or_(
        S.c.in_reply_to_account_id.is_(None),
        S.c.in_reply_to_account_id == S.c.account_id,
        S.c.in_reply_to_account_id == owner,
        and_(lists.c.replies_policy == "followed", _follows(owner, S.c.in_reply_to_account_id)),
        and_(lists.c.replies_policy == "list", target_is_on_it),
    )


_list_owner = lists.c.account_id
_list_follow = follows.alias("list_follow")
_shows_boosts = or_(~_is_boost(), func.coalesce(_list_follow.c.reblogs, True))
_list_source = (
    members.join(lists, lists.c.id == members.c.list_id)
    .join(feed_states, feed_states.c.account_id == lists.c.account_id)
    .join(S, S.c.account_id == members.c.account_id)
    .outerjoin(
        _list_follow,
        and_(_list_follow.c.account_id == lists.c.account_id, _list_follow.c.target_id == members.c.account_id),
    )
)


def _list_rules() -> Clause:
    return and_(
        _is_there(),
        _reaches(_list_owner),
        acceptable(_list_owner),
        _list_replies(_list_owner),
        _shows_boosts,
        or_(_list_follow.c.id.is_not(None), members.c.account_id == _list_owner),
    )


put_into_lists = _put(
    lambda: _entries(lists.c.id).select_from(_subject(_list_source)).where(and_(_these, _list_rules()))
)

_tag_owner = tag_follows.c.account_id
put_into_homes_by_tag = _put(
    lambda: (
        _entries(_tag_owner, by_tag=True)
        .distinct()
        .select_from(
            _subject(
                S.join(status_tags, status_tags.c.status_id == S.c.id)
                .join(tag_follows, tag_follows.c.tag_id == status_tags.c.tag_id)
                .join(feed_states, feed_states.c.account_id == tag_follows.c.account_id)
            )
        )
        .where(
            and_(
                _these,
                _is_there(),
                S.c.visibility == PUBLIC,
                S.c.reblog_of_id.is_(None),
                TA.c.silenced_at.is_(None),
                S.c.account_id != _tag_owner,
                acceptable(_tag_owner),
                ~_blocks_domain(_tag_owner, TA.c.domain),
            )
        )
    )
)

# Building: the newest of one author, or of everybody who is followed, for one feed.
_owner: Any = bindparam("owner", type_=BigInteger())
_own_follow = follows.alias("own_follow")
_of_followed = _own_follow.join(S, S.c.account_id == _own_follow.c.target_id)


def _wanted() -> Clause:
    return and_(
        _own_follow.c.account_id == _owner,
        or_(~_is_boost(), _own_follow.c.reblogs),
        or_(
            _own_follow.c.languages.is_(None),
            S.c.language.is_(None),
            cast(_own_follow.c.languages, Text).like(literal('%"').concat(S.c.language).concat('"%')),
        ),
        _is_there(),
        _reaches(_owner),
        acceptable(_owner),
        _is_for_home(_owner),
        ~_is_in_exclusive_list(_owner),
    )


build_home = _put(
    lambda: (
        _entries(_owner)
        .select_from(_subject(_of_followed))
        .where(and_(_wanted(), S.c.id > bindparam("since")))
        .order_by(S.c.id.desc())
        .limit(bindparam("most"))
    )
)
merge_into_home = _put(
    lambda: (
        _entries(_owner)
        .select_from(_subject(_of_followed))
        .where(and_(_wanted(), _own_follow.c.target_id == bindparam("author")))
        .order_by(S.c.id.desc())
        .limit(bindparam("most"))
    )
)
add_own = _put(
    lambda: (
        _entries(_owner)
        .select_from(_subject(S))
        .where(and_(S.c.account_id == _owner, _is_there()))
        .order_by(S.c.id.desc())
        .limit(bindparam("most"))
    )
)
build_list = _put(
    lambda: (
        _entries(lists.c.id)
        .select_from(_subject(_list_source))
        .where(and_(lists.c.id == _owner, _list_rules()))
        .order_by(S.c.id.desc())
        .limit(bindparam("most"))
    )
)
merge_into_list = _put(
    lambda: (
        _entries(lists.c.id)
        .select_from(_subject(_list_source))
        .where(and_(lists.c.id == _owner, members.c.account_id == bindparam("author"), _list_rules()))
        .order_by(S.c.id.desc())
        .limit(bindparam("most"))
    )
)
followed_count = query(lambda: select(func.count()).select_from(follows).where(follows.c.account_id == _owner), int)
lists_of = query(lambda: select(lists.c.id).where(lists.c.account_id == _owner), int)
lists_with = query(
    lambda: (
        select(lists.c.id)
        .join(members, members.c.list_id == lists.c.id)
        .where(and_(lists.c.account_id == _owner, members.c.account_id == bindparam("author")))
    ),
    int,
)
# What somebody hides leaves their feeds: by them, boosts of them, and posts that name them, but for one's own.
_feed = feeds.alias("feed")
entries_with = query(
    lambda: (
        select(_feed.c.status_id)
        .join(T, T.c.id == _feed.c.original_id)
        .where(
            and_(
                any_of(_feed.c.owner, "owners"),
                _feed.c.author_id != _feed.c.owner,
                or_(
                    _feed.c.author_id == bindparam("author"),
                    T.c.account_id == bindparam("author"),
                    exists(
                        select(mentions.c.status_id).where(
                            and_(mentions.c.status_id == T.c.id, mentions.c.account_id == bindparam("author"))
                        )
                    ),
                ),
            )
        )
    ),
    int,
)
# The same of a whole domain, whose people may be named.
_sayer = accounts.alias("sayer")
entries_from = query(
    lambda: (
        select(_feed.c.status_id)
        .join(T, T.c.id == _feed.c.original_id)
        .join(TA, TA.c.id == T.c.account_id)
        .join(_sayer, _sayer.c.id == _feed.c.author_id)
        .where(
            and_(
                _feed.c.owner == _owner,
                _feed.c.author_id != _feed.c.owner,
                or_(_sayer.c.domain == bindparam("domain"), TA.c.domain == bindparam("domain")),
            )
        )
    ),
    int,
)
# What a tag has brought into a home: none of its other tags is followed. And what nothing else would bring there.
_other_tag, _other_follow = status_tags.alias("other_tag"), tag_follows.alias("other_follow")
_by_tag = (
    select(_feed.c.status_id, _feed.c.author_id)
    .join(status_tags, status_tags.c.status_id == _feed.c.status_id)
    .where(
        and_(
            _feed.c.owner == _owner,
            _feed.c.by_tag,
            status_tags.c.tag_id == bindparam("tag"),
            ~exists(
                select(_other_tag.c.tag_id)
                .join(_other_follow, _other_follow.c.tag_id == _other_tag.c.tag_id)
                .where(and_(_other_tag.c.status_id == _feed.c.status_id, _other_follow.c.account_id == _owner))
                .correlate_except(_other_tag, _other_follow)
            ),
        )
    )
)
brought_by_tag = query(_by_tag, tuple)
brought_by_tag_alone = query(lambda: _by_tag.where(~_follows(_owner, _feed.c.author_id)), tuple)
overfull = query(
    lambda: select(feeds.c.owner).group_by(feeds.c.owner).having(func.count() > bindparam("most")).limit(500), int
)
