"""What belongs in whose feed: the rules of home and list feeds, each a clause, and the statements made of them.

A status is put into many feeds by one statement, which asks the rules of every feed for itself. The same clauses
serve when a feed is built anew, for many statuses and one feed. `owner` is whose feed it is.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
    true,
)

from kith.base.db import alias_of, any_of, any_row, command, query, upsert
from kith.social.accounts.tables import accounts
from kith.social.feeds.tables import feed_states, feeds
from kith.social.ids import StatusId
from kith.social.lists.tables import lists, members
from kith.social.relationships import rules
from kith.social.relationships.follow_source import Following
from kith.social.statuses.tables import DIRECT, LIMITED, PRIVATE, PUBLIC, mentions, statuses
from kith.social.tags.tables import status_tags, tag_follows

Clause = ColumnElement[bool]
AGGREGATED = 80
PROMOTED = 10
CHUNK = 1000

S = alias_of(statuses, "s")
T = alias_of(statuses, "t")
TA = alias_of(accounts, "ta")


# Every clause looks at tables of its own, whatever the statement around it is about.


def _mentions_hidden(owner: ColumnElement[Any], status_id: ColumnElement[Any]) -> Clause:
    """Whether the status mentions anybody whom the owner blocks or mutes."""
    named = alias_of(mentions)
    hidden = rules.hides_mention(owner, named.c.account_id)
    return any_row(named, and_(named.c.status_id == status_id, hidden))


def _is_boost() -> Clause:
    return S.c.reblog_of_id.is_not(None)


def acceptable(owner: ColumnElement[Any]) -> Clause:
    """Nobody in it, and nobody it is from, whom the owner does not want to see or who does not want to be seen."""
    return and_(
        ~rules.hides_account(owner, S.c.account_id),
        ~_mentions_hidden(owner, T.c.id),
        or_(~_is_boost(), ~rules.hides_author(owner, TA)),
    )


def _is_for_home(owner: ColumnElement[Any]) -> Clause:
    """A reply to others is shown to those who follow both. One whose parent is not known here is shown to nobody."""
    return or_(
        S.c.in_reply_to_account_id.is_(None),
        S.c.in_reply_to_account_id == S.c.account_id,
        S.c.in_reply_to_account_id == owner,
        rules.follows(owner, S.c.in_reply_to_account_id),
    )


def _reaches(owner: ColumnElement[Any]) -> Clause:
    """What is for followers reaches followers; what is for some reaches those it mentions."""
    own = alias_of(mentions)
    named = any_row(own, and_(own.c.status_id == S.c.id, own.c.account_id == owner))
    return or_(S.c.visibility <= PRIVATE, and_(S.c.visibility.in_((DIRECT, LIMITED)), named))


def is_in_exclusive_list(owner: ColumnElement[Any] | None = None) -> Clause:
    """One of the owner; or, where nobody is named, of anybody."""
    kept, on_it = alias_of(lists), alias_of(members)
    whose = true() if owner is None else kept.c.account_id == owner
    return exists(
        select(on_it.c.id)
        .join(kept, kept.c.id == on_it.c.list_id)
        .where(and_(whose, kept.c.exclusive, on_it.c.account_id == S.c.account_id))
        .correlate_except(kept, on_it)
    )


def _is_shown_already(owner: ColumnElement[Any]) -> Clause:
    """A boost of what stands, or stood boosted, among the newest entries is left out."""
    newest, other = alias_of(feeds, "newest"), alias_of(feeds, "other")
    recent = (
        select(newest.c.status_id)
        .where(newest.c.owner == owner)
        .order_by(newest.c.status_id.desc())
        .offset(AGGREGATED - 1)
        .limit(1)
        .correlate_except(newest)
        .scalar_subquery()
    )
    return any_row(
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


def _put(entries: Select[Any]) -> Any:
    return command(upsert(feeds).from_select(_COLUMNS, entries).on_conflict_do_nothing().inline())


def _home_rules(owner: ColumnElement[Any]) -> Clause:
    return and_(
        _is_there(),
        _reaches(owner),
        acceptable(owner),
        _is_for_home(owner),
        ~is_in_exclusive_list(owner),
        or_(~_is_boost(), ~_is_shown_already(owner)),
    )


_follow = Following("follow")
_follower = _follow.follower
_chunk = and_(_follow.id > bindparam("after"), _follow.id <= bindparam("upto"))


def _into_homes(some: Clause) -> Select[Any]:
    """Of followers who are here now and then, some."""
    here = _follow.source.join(feed_states, feed_states.c.account_id == _follower)
    return (
        _entries(_follower)
        .select_from(_subject(here.join(S, S.c.account_id == _follow.followed)))
        .where(
            and_(
                _these,
                some,
                _follow.wants_language(S.c.language),
                or_(~_is_boost(), _follow.wants_boosts),
                _home_rules(_follower),
            )
        )
    )


# A stretch of them at a time.
put_into_homes = _put(_into_homes(_chunk))
# Whose followers are more than one stretch, and where it ends.
_next = Following("next")
_end = (
    select(_next.id)
    .where(and_(_next.followed == S.c.account_id, _next.id > bindparam("after")))
    .order_by(_next.id)
    .offset(CHUNK - 1)
    .limit(1)
    .correlate_except(_next.source)
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
    StatusId,
)


def _list_replies(owner: ColumnElement[Any]) -> Clause:
    """Replies to others, as the list's own policy says."""
    on_it = alias_of(members, "on_it")
    target_is_on_it = any_row(
        on_it, and_(on_it.c.list_id == lists.c.id, on_it.c.account_id == S.c.in_reply_to_account_id)
    )
    return or_(
        S.c.in_reply_to_account_id.is_(None),
        S.c.in_reply_to_account_id == S.c.account_id,
        S.c.in_reply_to_account_id == owner,
        and_(lists.c.replies_policy == "followed", rules.follows(owner, S.c.in_reply_to_account_id)),
        and_(lists.c.replies_policy == "list", target_is_on_it),
    )


_list_owner = lists.c.account_id
_list_follow = Following("list_follow")
_shows_boosts = or_(~_is_boost(), func.coalesce(_list_follow.wants_boosts, True))
_list_source = (
    members.join(lists, lists.c.id == members.c.list_id)
    .join(feed_states, feed_states.c.account_id == lists.c.account_id)
    .join(S, S.c.account_id == members.c.account_id)
    .outerjoin(
        _list_follow.source,
        and_(_list_follow.follower == lists.c.account_id, _list_follow.followed == members.c.account_id),
    )
)
_list_rules = and_(
    _is_there(),
    _reaches(_list_owner),
    acceptable(_list_owner),
    _list_replies(_list_owner),
    _shows_boosts,
    or_(_list_follow.id.is_not(None), members.c.account_id == _list_owner),
)
_into_lists = _entries(lists.c.id).select_from(_subject(_list_source)).where(and_(_these, _list_rules))
put_into_lists = _put(_into_lists)

_tag_owner = tag_follows.c.account_id
_tagged = and_(
    _is_there(),
    S.c.visibility == PUBLIC,
    S.c.reblog_of_id.is_(None),
    TA.c.silenced_at.is_(None),
    S.c.account_id != _tag_owner,
    acceptable(_tag_owner),
    ~rules.blocks_domain(_tag_owner, TA.c.domain),
)
_into_homes_by_tag = (
    _entries(_tag_owner, by_tag=True)
    .distinct()
    .select_from(
        _subject(
            S.join(status_tags, status_tags.c.status_id == S.c.id)
            .join(tag_follows, tag_follows.c.tag_id == status_tags.c.tag_id)
            .join(feed_states, feed_states.c.account_id == tag_follows.c.account_id)
        )
    )
    .where(and_(_these, _tagged))
)
put_into_homes_by_tag = _put(_into_homes_by_tag)

# The same for those who listen at this moment (`owners`), who are told before their feeds are filled.
followers_that_listen = query(
    lambda: (
        select(S.c.id, _follower)
        .select_from(
            _follow.source.join(feed_states, feed_states.c.account_id == _follower).join(
                S, S.c.account_id == _follow.followed
            )
        )
        .where(
            and_(_these, S.c.deleted_at.is_(None), any_of(_follower, "owners"), _follow.wants_language(S.c.language))
        )
    ),
    tuple,
)  # of a post that every follower may have
homes_that_listen = query(lambda: _into_homes(any_of(_follower, "owners")).with_only_columns(S.c.id, _follower), tuple)
lists_that_listen = query(
    lambda: _into_lists.where(any_of(lists.c.id, "owners")).with_only_columns(S.c.id, lists.c.id), tuple
)
homes_by_tag_that_listen = query(
    lambda: _into_homes_by_tag.where(any_of(_tag_owner, "owners")).with_only_columns(S.c.id, _tag_owner), tuple
)

# Which of some posts have a tag that anybody follows: of most there is nothing to bring home by one.
with_followed_tag = query(
    lambda: (
        select(status_tags.c.status_id)
        .distinct()
        .join(tag_follows, tag_follows.c.tag_id == status_tags.c.tag_id)
        .where(any_of(status_tags.c.status_id, "statuses"))
    ),
    StatusId,
)

# Building: the newest of one author, or of everybody who is followed, for one feed.
_owner: Any = bindparam("owner", type_=BigInteger())
_own_follow = Following("own_follow")
_of_followed = _own_follow.source.join(S, S.c.account_id == _own_follow.followed)
_wanted = and_(
    _own_follow.follower == _owner,
    or_(~_is_boost(), _own_follow.wants_boosts),
    _own_follow.wants_language(S.c.language),
    _is_there(),
    _reaches(_owner),
    acceptable(_owner),
    _is_for_home(_owner),
    ~is_in_exclusive_list(_owner),
)
# What is to come there is looked for before anything is written: among all that many have said that takes long. Then
# the rules are asked once more, of these alone.
newest_for_home = query(
    lambda: (
        select(S.c.id)
        .select_from(_subject(_of_followed))
        .where(and_(_wanted, S.c.id > bindparam("since")))
        .order_by(S.c.id.desc())
        .limit(bindparam("most"))
    ),
    StatusId,
)
build_home = _put(_entries(_owner).select_from(_subject(_of_followed)).where(and_(_wanted, _these)))
# One followed tag at a time: the newest of it stand at an end of its index.
followed_tags = query(
    lambda: (
        select(tag_follows.c.tag_id, tag_follows.c.created_at)
        .where(_tag_owner == _owner)
        .order_by(tag_follows.c.id.desc())
        .limit(bindparam("most"))
    ),
    tuple,
)
build_home_by_tag = _put(
    _entries(_tag_owner, by_tag=True)
    .select_from(
        _subject(
            status_tags.join(tag_follows, tag_follows.c.tag_id == status_tags.c.tag_id).join(
                S, S.c.id == status_tags.c.status_id
            )
        )
    )
    .where(
        and_(
            _tag_owner == _owner,
            status_tags.c.tag_id == bindparam("tag"),
            status_tags.c.status_id > bindparam("since"),
            _tagged,
        )
    )
    .order_by(status_tags.c.status_id.desc())
    .limit(bindparam("most"))
)
merge_into_home = _put(
    _entries(_owner)
    .select_from(_subject(_of_followed))
    .where(and_(_wanted, _own_follow.followed == bindparam("author")))
    .order_by(S.c.id.desc())
    .limit(bindparam("most"))
)
add_own = _put(
    _entries(_owner)
    .select_from(_subject(S))
    .where(and_(S.c.account_id == _owner, _is_there()))
    .order_by(S.c.id.desc())
    .limit(bindparam("most"))
)
_of_list = and_(lists.c.id == _owner, _list_rules)
newest_for_list = query(
    lambda: (
        select(S.c.id)
        .select_from(_subject(_list_source))
        .where(_of_list)
        .order_by(S.c.id.desc())
        .limit(bindparam("most"))
    ),
    StatusId,
)
build_list = _put(_entries(lists.c.id).select_from(_subject(_list_source)).where(and_(_of_list, _these)))
merge_into_list = _put(
    _entries(lists.c.id)
    .select_from(_subject(_list_source))
    .where(and_(lists.c.id == _owner, members.c.account_id == bindparam("author"), _list_rules))
    .order_by(S.c.id.desc())
    .limit(bindparam("most"))
)
lists_of = query(lambda: select(lists.c.id).where(lists.c.account_id == _owner), int)
lists_with = query(
    lambda: (
        select(lists.c.id)
        .join(members, members.c.list_id == lists.c.id)
        .where(and_(lists.c.account_id == _owner, members.c.account_id == bindparam("author")))
    ),
    int,
)
