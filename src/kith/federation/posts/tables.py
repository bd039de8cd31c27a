from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, ForeignKey, Table, Text

from kith.base.db import ID, METADATA, Instant, index_of_some
from kith.social.ids import StatusId

# What a post has beside what is shown of it, because others wrote it or because it quotes others. `parent` and `quoted`
# are ids of what is not known here yet; `stamp` is the word of whoever is quoted.
remote_posts = Table(
    "federation_posts",
    METADATA,
    Column(
        "status_id",
        ID,
        ForeignKey("social_statuses.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("parent", Text),
    Column("conversation", Text),
    Column("replies", Text),
    Column("quoted", Text),
    Column("stamp", Text),
    Column("stamp_checked_at", Instant),
    Column("replies_asked_at", Instant),
    Column("replies_read_at", Instant),
    index_of_some("federation_posts", "parent", "status_id"),
    index_of_some("federation_posts", "conversation", "status_id"),
    index_of_some("federation_posts", "stamp"),
    index_of_some("federation_posts", "stamp_checked_at"),
)


class RemotePost(msgspec.Struct):
    """`conversation` is by what its server knows the thread; `replies` is the collection of answers."""

    status_id: StatusId
    parent: str | None = None
    conversation: str | None = None
    replies: str | None = None
    quoted: str | None = None
    stamp: str | None = None
    stamp_checked_at: datetime | None = None
    replies_asked_at: datetime | None = None
    replies_read_at: datetime | None = None
