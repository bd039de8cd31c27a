"""What leaves a feed again: what its owner hides, what only a tag had brought, and what is more than it holds."""

from __future__ import annotations

from sqlalchemy import BigInteger, Text, and_, bindparam, exists, or_, select

from kith.base.db import alias_of, any_of, query
from kith.social.accounts.tables import accounts
from kith.social.feeds.tables import feeds
from kith.social.relationships import rules
from kith.social.remote_servers import is_of_server
from kith.social.statuses.tables import mentions
from kith.social.tags.tables import status_tags, tag_follows
from kith.social.timelines.feed_rules import TA, T

_owner = bindparam("owner", type_=BigInteger())

# What somebody hides leaves their feeds: by them, boosts of them, and posts that name them, but for one's own.
_feed = alias_of(feeds, "feed")
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
_sayer = alias_of(accounts, "sayer")
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
                or_(*(is_of_server(one.c.domain, bindparam("domain", type_=Text())) for one in (_sayer, TA))),
            )
        )
    ),
    int,
)
# What a tag has brought into a home: none of its other tags is followed. And what nothing else would bring there.
_other_tag, _other_follow = alias_of(status_tags, "other_tag"), alias_of(tag_follows, "other_follow")
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
brought_by_tag_alone = query(lambda: _by_tag.where(~rules.follows(_owner, _feed.c.author_id)), tuple)
